// Reads the numbers of EBML (RFC 8794), the format that Matroska and WebM are written in: the place of the
// first bit that is set says how many bytes the number has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace contorno {

inline constexpr std::size_t kLongestEbmlNumber = 8;

struct EbmlNumber {
  std::size_t bytes = 0;  ///< 0: there is none at this place
  std::uint64_t value = 0;
  bool unknown = true;  ///< all bits are set: a size that was not known when it was written
};

/// The number at the beginning of `text`, without the bit that marks its length.
inline EbmlNumber ebml_number(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes <= kLongestEbmlNumber && !text.empty() &&
         (static_cast<unsigned char>(text[0]) << (bytes - 1) & 0x80U) == 0)
    ++bytes;
  if (bytes > kLongestEbmlNumber || text.size() < bytes) return {};
  const std::uint64_t mask = (std::uint64_t{1} << (7 * bytes)) - 1;
  std::uint64_t value = 0;
  for (const char byte : text.substr(0, bytes)) value = value << 8 | static_cast<unsigned char>(byte);
  return {.bytes = bytes, .value = value & mask, .unknown = (value & mask) == mask};
}

}  // namespace contorno
