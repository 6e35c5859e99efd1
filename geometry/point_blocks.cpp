#include "geometry/point_blocks.h"

#include <algorithm>

namespace contorno {

PointBlocks::PointBlocks(const Point* points, std::uint32_t count, Box* boxes)
    : points_(points), count_(count) {
  std::uint32_t blocks = (count + kBlock - 1) / kBlock;
  for (;; blocks = (blocks + 1) / 2) {
    boxes_[levels_++] = boxes;
    boxes += blocks;
    if (blocks <= 1) return;
  }
}

void PointBlocks::build() {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  for (std::uint32_t number = 0; number * kBlock < count_; ++number) {
    Box& box = boxes_[0][number] = {};
    for (std::uint32_t i = number * kBlock; i < std::min((number + 1) * kBlock + 1, count_); ++i) {
      box.add(points_[i]);
      if (!is_finite(points_[i])) box = {-kFar, -kFar, kFar, kFar};
    }
  }
  for (int level = 1; level < levels_; ++level)
    for (Block block{level, 0}; begin(block) < count_; ++block.number) {
      Box& box = boxes_[level][block.number] = boxes_[level - 1][2 * block.number];
      if (begin(half(block, 1)) < count_) box.add(boxes_[level - 1][2 * block.number + 1]);
    }
}

}  // namespace contorno
