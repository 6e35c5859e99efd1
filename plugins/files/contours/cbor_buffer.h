// CBOR (RFC 8949) that is written and cleared again and again. Maps and arrays have their counts first,
// numbers the shortest form of the same value. A buffer keeps its memory and belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/value/contours.h"

namespace contorno {

class CborBuffer {
 public:
  std::string_view view() const { return data_; }
  void clear() { data_.clear(); }

  CborBuffer& map(std::size_t members);
  CborBuffer& array(std::size_t elements);
  /// Text; what is no UTF-8 becomes U+FFFD, as in TextBuffer::json.
  CborBuffer& text(std::string_view text);
  CborBuffer& integer(std::uint64_t value);
  CborBuffer& integer(std::int64_t value);
  /// Writes a number as an integer or float32 where that has the same value, else as float64; null where JSON
  /// has no number (NaN, infinities).
  CborBuffer& number(double value);
  CborBuffer& boolean(bool value);
  CborBuffer& null();
  /// x and y of each point by turns, as a typed array of RFC 8746: float32, little endian (tag 85).
  CborBuffer& points(std::span<const Point> points);
  /// Items that are CBOR already, of the count that was announced.
  CborBuffer& append(std::string_view items);

 private:
  enum class Major : std::uint8_t { Unsigned, Negative, Bytes, Text, Array, Map, Tag };
  void head(Major major, std::uint64_t value);
  void big_endian(std::uint64_t value, int bytes);

  std::string data_;
};

}  // namespace contorno
