// The wire format of Protocol Buffers, as much of it as ONNX files use (protobuf.dev, "Encoding"). Reads from
// memory that it does not own, trusts no length in it, and takes no memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace contorno {

/// A message whose fields are read one after the other.
class WireMessage {
 public:
  enum class Kind : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  explicit WireMessage(std::string_view bytes) : left_(bytes) {}

  /// Goes to the next field; false at the end. Throws Error(BadData) for what is no message.
  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t tag = varint();
    if (tag >> 35 != 0 || tag >> 3 == 0) damaged("a field has a number that there is not");
    field_ = static_cast<int>(tag >> 3 & 0x1fffffff);
    switch (tag & 7) {
      case 0:
        kind_ = Kind::Varint;
        number_ = varint();
        return true;
      case 1:
        kind_ = Kind::Fixed64;
        bytes_ = take(8);
        return true;
      case 2:
        kind_ = Kind::Bytes;
        bytes_ = take(varint());
        return true;
      case 5:
        kind_ = Kind::Fixed32;
        bytes_ = take(4);
        return true;
      default:
        damaged("a field is of a kind that there is not");
    }
  }
  int field() const { return field_; }
  bool is(int field, Kind kind) const { return field_ == field && kind_ == kind; }
  /// The value of a field that is a Varint.
  std::int64_t number() const { return static_cast<std::int64_t>(number_); }
  /// The content of a field of Bytes.
  std::string_view bytes() const { return bytes_; }
  /// The value of a field that is a Fixed32.
  float single() const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes_.data(), sizeof bits);
    return std::bit_cast<float>(bits);
  }

  [[noreturn]] static void damaged(const char* why) {
    throw Error(ExitCode::BadData, std::string("it is damaged, or no ONNX file: ") + why);
  }

  /// The next of packed numbers, where the message is a list of them.
  bool next_packed(std::int64_t& number) {
    if (left_.empty()) return false;
    number = static_cast<std::int64_t>(varint());
    return true;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    damaged("a number does not end");
  }
  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) damaged("it ends within a field");
    const std::string_view taken = left_.substr(0, static_cast<std::size_t>(count));
    left_.remove_prefix(static_cast<std::size_t>(count));
    return taken;
  }

  std::string_view left_, bytes_;
  std::uint64_t number_ = 0;
  int field_ = 0;
  Kind kind_ = Kind::Varint;
};

}  // namespace contorno
