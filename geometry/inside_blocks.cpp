#include "geometry/inside_blocks.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace contorno::nesting {
namespace {

/// Whether the ray from `place` crosses the segments of a block, from `first` to `last`, an odd number of
/// times, if its box says so.
std::optional<bool> crosses_block(const Place& place, const Box& box, const Point& first, const Point& last) {
  // All ends of segments are on one side of the row.
  if (place.row > box.bottom || place.row < box.top) return false;
  const double left = box.left, right = box.right;
  // 32 times the rounding of one number: crossing_column rounds less often than that.
  const double rounding = 0x1p-48 * (std::abs(left) + std::abs(right));
  if (place.col <= left - rounding) return false;
  // All that cross the row do so before the place.
  if (place.col > right + rounding)
    return (static_cast<double>(first.row) > place.row) != (static_cast<double>(last.row) > place.row);
  return std::nullopt;
}

}  // namespace

bool is_inside(const Place& place, const Point* contour, const PointBlocks& blocks) {
  PointBlocks::Block waiting[PointBlocks::kMostLevels + 1];
  int count = 0;
  bool inside = false;
  const std::uint32_t points = blocks.count();
  waiting[count++] = blocks.top();
  while (count > 0) {
    const PointBlocks::Block block = waiting[--count];
    const std::uint32_t begin = blocks.begin(block);
    if (begin >= points) continue;
    const std::uint32_t last = std::min(blocks.end(block), points - 1);
    if (const auto known = crosses_block(place, blocks.box(block), contour[begin], contour[last])) {
      inside = inside != *known;
    } else if (block.level > 0) {
      waiting[count++] = PointBlocks::half(block, 0);
      waiting[count++] = PointBlocks::half(block, 1);
    } else {
      for (std::uint32_t i = begin; i < last; ++i)
        if (crosses(place, contour[i], contour[i + 1])) inside = !inside;
    }
  }
  return inside;
}

}  // namespace contorno::nesting
