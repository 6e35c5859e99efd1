// Boxes around blocks of a contour's points, around two of these, and so on: what is asked of all points or
// segments is answered without those blocks that cannot matter. For contours of so many points that looking
// at all of them again and again takes long. Works in memory of its caller, on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/contour_prep/shared/box.h"

namespace contorno {

class PointBlocks {
 public:
  /// What a contour has at least, that there is room for its boxes: one for 8 points each.
  static constexpr std::uint32_t kFewestPoints = 1024, kPointsABox = 8;
  /// Points of a block on level 0; on the others twice as many each.
  static constexpr std::uint32_t kBlock = 32;
  static constexpr int kMostLevels = 28;

  /// Boxes that the contours of a frame have, and where those of the contour that begins with a point are.
  static std::uint64_t boxes_for(std::uint64_t points) { return points / kPointsABox; }
  static std::uint64_t first_box(std::uint64_t point) { return (point + kPointsABox - 1) / kPointsABox; }

  /// Of `count` points; `boxes` has room for boxes_for(count), and is not looked at.
  PointBlocks(const Point* points, std::uint32_t count, Box* boxes);
  void build();

  struct Block {
    int level = 0;
    std::uint32_t number = 0;
  };
  std::uint32_t count() const { return count_; }
  Block top() const { return {levels_ - 1, 0}; }
  static Block half(const Block& block, std::uint32_t which) {
    return {block.level - 1, 2 * block.number + which};
  }
  /// Its points, and the one behind them as well, so that it has whole segments. A block with a point that is
  /// not finite has all of the plane.
  const Box& box(const Block& block) const { return boxes_[block.level][block.number]; }
  std::uint32_t begin(const Block& block) const {
    const std::uint64_t first = (std::uint64_t{kBlock} << block.level) * block.number;
    return first < count_ ? static_cast<std::uint32_t>(first) : count_;
  }
  std::uint32_t end(const Block& block) const { return begin({block.level, block.number + 1}); }

 private:
  const Point* points_;
  std::uint32_t count_;
  Box* boxes_[kMostLevels] = {};
  int levels_ = 0;
};

}  // namespace contorno
