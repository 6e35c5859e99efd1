// An Exif segment as a camera writes it, for pictures that are stored turned.
#pragma once

#include <cstdint>
#include <string>

namespace contorno::test {

/// The application segment of a JPEG with two tags: the picture's width, and then its orientation.
inline std::string exif_segment(int orientation, bool big_endian) {
  using namespace std::string_literals;
  const auto number = [big_endian](std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
      text += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i) & 0xFF);
    return text;
  };
  const std::string tiff = (big_endian ? "MM"s : "II"s) + number(42, 2) + number(8, 4) + number(2, 2) +
                           number(0x0100, 2) + number(4, 2) + number(1, 4) + number(640, 4) +
                           number(0x0112, 2) + number(3, 2) + number(1, 4) +
                           number(static_cast<std::uint32_t>(orientation), 2) + number(0, 2) + number(0, 4);
  const std::string payload = "Exif\0\0"s + tiff;
  const auto length = payload.size() + 2;
  return "\xFF\xE1"s + static_cast<char>(length >> 8) + static_cast<char>(length & 0xFF) + payload;
}

}  // namespace contorno::test
