#include "plugins/files/contours/text_buffer.h"

#include <algorithm>

#include "pipeline/shared/printable.h"
#include "plugins/files/contours/utf8.h"

namespace contorno {
namespace {

/// Calls `ascii` for each ASCII character; copies the rest when it is valid UTF-8.
template <class Ascii>
void for_each_character(TextBuffer& out, std::string_view text, Ascii ascii) {
  for_each_utf8(text, [&](std::string_view one) {
    if (one.size() == 1)
      ascii(one[0]);
    else
      out << one;
  });
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0, surrogate = first == 0xED && second > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90, beyond = first == 0xF4 && second > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void TextBuffer::grow(std::size_t bytes) {
  constexpr std::size_t kFirst = 4096;
  const std::size_t wanted = std::max({kFirst, capacity_ * 2, size_ + bytes});
  auto larger = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = wanted;
}

TextBuffer& TextBuffer::json(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  *this << '"';
  for_each_character(*this, text, [this, kHex](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      *this << '\\' << c;
    else if (byte < 0x20 || c == '<' || byte == 0x7F)
      *this << "\\u00" << kHex[byte >> 4] << kHex[byte & 15];
    else
      *this << c;
  });
  return *this << '"';
}

TextBuffer& TextBuffer::xml(std::string_view text) {
  for_each_character(*this, text, [this](char c) {
    if (const std::string_view other = markup_of(c); !other.empty())
      *this << other;
    else
      *this << c;
  });
  return *this;
}

}  // namespace contorno
