// A text that is written and cleared again and again, for JSON and XML without a library: fast, and
// independent of the locale. It keeps its memory, so that it allocates only while texts grow longer. A buffer
// belongs to one thread.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace contorno {

class TextBuffer {
 public:
  std::string_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  /// Takes back the last character, a comma too much for example.
  void drop_last() { --size_; }

  TextBuffer& operator<<(std::string_view text) {
    if (text.empty()) return *this;  // it may be no text at all, of which nothing may be copied
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  TextBuffer& operator<<(const char* text) { return *this << std::string_view(text); }
  TextBuffer& operator<<(char c) {
    *room(1) = c;
    ++size_;
    return *this;
  }
  /// Shortest text that reads back as the same number; null where JSON has none (NaN, infinities).
  TextBuffer& operator<<(float value) { return number(value); }
  TextBuffer& operator<<(double value) { return number(value); }
  TextBuffer& operator<<(int value) { return integer(value); }
  TextBuffer& operator<<(std::int64_t value) { return integer(value); }
  TextBuffer& operator<<(std::uint64_t value) { return integer(value); }

  /// A JSON string with its quotes. '<' is escaped so that no </script> gets through, and what is not UTF-8
  /// becomes U+FFFD.
  TextBuffer& json(std::string_view text);
  /// Character data or attribute value of XML; characters that XML cannot have become U+FFFD.
  TextBuffer& xml(std::string_view text);

 private:
  static constexpr std::size_t kMostDigits = 32;  // longest shortest double: 24

  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return data_.get() + size_;
  }
  void grow(std::size_t bytes);
  template <class T>
  TextBuffer& integer(T value) {
    char* at = room(kMostDigits);
    size_ += static_cast<std::size_t>(std::to_chars(at, at + kMostDigits, value).ptr - at);
    return *this;
  }
  template <class T>
  TextBuffer& number(T value) {
    // Every contour point has one whole coordinate, and whole numbers are cheap.
    if (value >= 1 && value < 65536) {
      const auto whole = static_cast<std::uint32_t>(value);
      if (static_cast<T>(whole) == value) return integer(whole);
    }
    if (!std::isfinite(value)) return *this << std::string_view("null");
    char* at = room(kMostDigits);
    size_ += static_cast<std::size_t>(std::to_chars(at, at + kMostDigits, value).ptr - at);
    return *this;
  }

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace contorno
