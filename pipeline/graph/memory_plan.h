// Where the blocks of a frame lie in one piece of memory. A block that is needed only while certain nodes run
// shares its addresses with blocks that are needed at other times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace contorno {

/// The first and the last node, by number, during which the content of a block is needed. By default it
/// always is, also from frame to frame: no other block shares its addresses.
struct Lifetime {
  static constexpr int kUpload = -1;                            ///< before the first node
  static constexpr int kEnd = std::numeric_limits<int>::max();  ///< until the frame is complete
  int first = kUpload, last = kEnd;

  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

enum class MemorySharing : std::uint8_t {
  Shared,
  Apart,   ///< no two blocks share an address
  Filled,  ///< for tests: as Shared, and blocks are overwritten with a pattern before their first node and
           ///< behind their last one
};

/// First all blocks are added, then they are placed, once; then their offsets are known.
class MemoryPlan {
 public:
  /// A block of `bytes`, rounded up to a multiple of kAlignment (base/memory.h). Returns its number.
  std::size_t add(std::size_t bytes, const Lifetime& lifetime);

  /// Places all blocks, the largest first, each at the lowest offset at which no block lies that is needed at
  /// the same time (first fit).
  void place(MemorySharing sharing);

  /// Where a block was placed, in bytes from the begin of the memory; a multiple of kAlignment.
  std::size_t offset(std::size_t block) const { return blocks_[block].offset; }
  /// What all blocks take together: the end of the last one.
  std::size_t bytes() const { return bytes_; }
  /// bytes() if no two blocks shared an address.
  std::size_t bytes_apart() const;

  struct Block {
    std::size_t bytes = 0, offset = 0;
    Lifetime lifetime;
  };
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::size_t first_fit(const std::vector<std::size_t>& placed, const Block& block) const;

  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

}  // namespace contorno
