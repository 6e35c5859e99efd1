// What decoders of pictures share: numbers in the headers of files, and what is said of damage.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace contorno {

/// The lowest byte first, of 1 to 4 bytes. What lies behind the end reads as 0.
inline std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;)
    value = value << 8 | (at + i < bytes.size() ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
  return value;
}

/// A sample from 0 to `most` as one from 0 to 255, rounded.
inline std::uint8_t scale_to_byte(std::uint32_t value, std::uint32_t most) {
  return static_cast<std::uint8_t>((std::uint64_t{value} * 255 + most / 2) / most);
}

/// Throws Error(BadData): the picture is damaged, and why.
[[noreturn]] inline void damaged(const std::string& why) {
  throw Error(ExitCode::BadData, fmt::format("the picture is damaged ({})", why));
}

}  // namespace contorno
