#include "plugins/files/contours/cbor_buffer.h"

#include <bit>
#include <cmath>

#include "plugins/files/contours/utf8.h"

namespace contorno {
namespace {

constexpr std::uint64_t kFloat32LittleEndian = 85;  // RFC 8746, section 2.1
constexpr std::uint8_t kFalse = 0xF4, kTrue = 0xF5, kNull = 0xF6, kFloat32 = 0xFA, kFloat64 = 0xFB;

}  // namespace

CborBuffer& CborBuffer::map(std::size_t members) {
  head(Major::Map, members);
  return *this;
}

CborBuffer& CborBuffer::array(std::size_t elements) {
  head(Major::Array, elements);
  return *this;
}

CborBuffer& CborBuffer::text(std::string_view text) {
  std::size_t bytes = 0;
  for_each_utf8(text, [&](std::string_view one) { bytes += one.size(); });
  head(Major::Text, bytes);
  for_each_utf8(text, [&](std::string_view one) { data_ += one; });
  return *this;
}

CborBuffer& CborBuffer::integer(std::uint64_t value) {
  head(Major::Unsigned, value);
  return *this;
}

CborBuffer& CborBuffer::integer(std::int64_t value) {
  if (value >= 0)
    head(Major::Unsigned, static_cast<std::uint64_t>(value));
  else
    head(Major::Negative, ~static_cast<std::uint64_t>(value));  // -1 - value
  return *this;
}

CborBuffer& CborBuffer::number(double value) {
  if (!std::isfinite(value)) return null();
  constexpr double kExact = 9007199254740992;  // 2^53: below it every whole number is a double
  const bool is_whole = std::abs(value) < kExact && value == std::trunc(value);
  if (is_whole && !(value == 0 && std::signbit(value))) return integer(static_cast<std::int64_t>(value));
  if (const auto narrow = static_cast<float>(value); static_cast<double>(narrow) == value) {
    data_ += static_cast<char>(kFloat32);
    big_endian(std::bit_cast<std::uint32_t>(narrow), 4);
  } else {
    data_ += static_cast<char>(kFloat64);
    big_endian(std::bit_cast<std::uint64_t>(value), 8);
  }
  return *this;
}

CborBuffer& CborBuffer::boolean(bool value) {
  data_ += static_cast<char>(value ? kTrue : kFalse);
  return *this;
}

CborBuffer& CborBuffer::null() {
  data_ += static_cast<char>(kNull);
  return *this;
}

CborBuffer& CborBuffer::points(std::span<const Point> points) {
  constexpr std::size_t kPointBytes = 2 * sizeof(float);
  head(Major::Tag, kFloat32LittleEndian);
  head(Major::Bytes, points.size() * kPointBytes);
  const std::size_t begin = data_.size();
  data_.resize(begin + points.size() * kPointBytes);
  char* at = data_.data() + begin;
  const auto put = [&](float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) *at++ = static_cast<char>((bits >> shift) & 0xFF);
  };
  for (const Point& point : points) put(point.col), put(point.row);
  return *this;
}

CborBuffer& CborBuffer::append(std::string_view items) {
  data_ += items;
  return *this;
}

void CborBuffer::head(Major major, std::uint64_t value) {
  constexpr std::uint64_t kInHead = 24;
  const auto first = static_cast<unsigned>(major) << 5;
  if (value < kInHead) {
    data_ += static_cast<char>(first | value);
    return;
  }
  const int log_bytes = value <= 0xFF ? 0 : value <= 0xFFFF ? 1 : value <= 0xFFFFFFFF ? 2 : 3;
  data_ += static_cast<char>(first | (kInHead + static_cast<unsigned>(log_bytes)));
  big_endian(value, 1 << log_bytes);
}

void CborBuffer::big_endian(std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    data_ += static_cast<char>((value >> shift) & 0xFF);
}

}  // namespace contorno
