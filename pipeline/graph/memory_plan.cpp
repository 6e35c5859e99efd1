#include "pipeline/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/memory.h"

namespace contorno {

std::size_t MemoryPlan::add(std::size_t bytes, const Lifetime& lifetime) {
  blocks_.push_back({.bytes = align_up(bytes), .lifetime = lifetime});
  return blocks_.size() - 1;
}

void MemoryPlan::place(MemorySharing sharing) {
  std::vector<std::size_t> largest_first(blocks_.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](std::size_t a, std::size_t b) { return blocks_[a].bytes > blocks_[b].bytes; });
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t number : largest_first) {
    Block& block = blocks_[number];
    block.offset = sharing == MemorySharing::Apart ? bytes_ : first_fit(placed, block);
    bytes_ = std::max(bytes_, block.offset + block.bytes);
    const auto behind = std::upper_bound(
        placed.begin(), placed.end(), block.offset,
        [&](std::size_t offset, std::size_t other) { return offset < blocks_[other].offset; });
    placed.insert(behind, number);
  }
}

std::size_t MemoryPlan::bytes_apart() const {
  return std::accumulate(blocks_.begin(), blocks_.end(), std::size_t{0},
                         [](std::size_t sum, const Block& block) { return sum + block.bytes; });
}

std::size_t MemoryPlan::first_fit(const std::vector<std::size_t>& placed, const Block& block) const {
  std::size_t offset = 0;
  for (const std::size_t number : placed) {
    const Block& other = blocks_[number];
    if (!other.lifetime.overlaps(block.lifetime)) continue;
    if (offset + block.bytes <= other.offset) break;
    offset = std::max(offset, other.offset + other.bytes);
  }
  return offset;
}

}  // namespace contorno
