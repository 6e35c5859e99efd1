#include "stages/contours/cpu/crossings.h"

#include <cstring>

#include "base/memory.h"

namespace contorno {
namespace {

struct PlaneLayout {
  std::int64_t row_words;
  std::size_t high, usable, suspect, row_flags, bytes;
};

PlaneLayout layout_of(const ImageFormat& map) {
  PlaneLayout layout{};
  layout.row_words = (map.width + 63) / 64;
  const auto rows = static_cast<std::size_t>(map.height);
  const std::size_t row_bytes = static_cast<std::size_t>(layout.row_words) * sizeof(std::uint64_t);
  layout.high = align_up(row_bytes);
  // Codes are fetched with loads that may reach some bytes behind the last row of zeros.
  layout.usable = layout.high + align_up((rows + 1) * row_bytes + sizeof(std::uint64_t));
  layout.suspect = layout.usable + align_up(rows * row_bytes);
  layout.row_flags = layout.suspect + align_up(rows * row_bytes);
  layout.bytes = layout.row_flags + align_up(rows);
  return layout;
}

}  // namespace

void clear_guard_rows(const PlaneBits& plane) {
  const auto bytes = static_cast<std::size_t>(plane.row_words) * sizeof(std::uint64_t);
  std::memset(plane.high_row(-1), 0, bytes);
  std::memset(plane.high_row(plane.height), 0, bytes + sizeof(std::uint64_t));
}

std::size_t crossings_bytes(const ImageFormat& map) {
  return layout_of(map).bytes * static_cast<std::size_t>(map.channels);
}

PlaneBits plane_bits(void* block, const ImageFormat& map, int channel) {
  const PlaneLayout layout = layout_of(map);
  auto* base = static_cast<std::byte*>(block) + layout.bytes * static_cast<std::size_t>(channel);
  return {.width = map.width,
          .height = map.height,
          .row_words = layout.row_words,
          .high = reinterpret_cast<std::uint64_t*>(base + layout.high),
          .usable = reinterpret_cast<std::uint64_t*>(base + layout.usable),
          .suspect = reinterpret_cast<std::uint64_t*>(base + layout.suspect),
          .row_flags = reinterpret_cast<std::uint8_t*>(base + layout.row_flags)};
}

}  // namespace contorno
