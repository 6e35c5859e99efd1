// A tree of bounding boxes over the points of one contour: a box for 32 points that follow each other, a box
// for two of those, and so on. Queries over all points or segments skip the blocks whose box cannot matter.
// Worth it for long contours alone. On the CPU; the caller owns the memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "geometry/box.h"

namespace contorno {

class PointBlocks {
 public:
  /// Contours with fewer points get no tree. From this size on all levels together need at most one box for
  /// 8 points; who changes one of these three numbers checks that for the others.
  static constexpr std::uint32_t kFewestPoints = 1024, kPointsABox = 8;
  /// Points of a block on level 0; on the others twice as many each.
  static constexpr std::uint32_t kBlock = 32;
  static constexpr int kMostLevels = 28;

  /// Boxes to allocate for a frame of `points` points; the index of the first box of the contour whose first
  /// point has the index `point`.
  static std::uint64_t boxes_for(std::uint64_t points) { return points / kPointsABox; }
  static std::uint64_t first_box(std::uint64_t point) { return (point + kPointsABox - 1) / kPointsABox; }

  /// Borrows `count` points; `boxes` has room for boxes_for(count) and need not be initialised before
  /// build().
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
  /// The box of the block's points and of the next block's first point, so that every segment is in one. With
  /// a point that is not finite it is the whole plane: such a block is never skipped. After build().
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
