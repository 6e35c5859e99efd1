// Where the blocks of a frame lie in one piece of memory. A block whose content is needed while some nodes
// run, and not behind them, shares its addresses with blocks of other nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace contorno {

/// The nodes, by number, while which the content of a block is needed, both included.
struct Lifetime {
  static constexpr int kUpload = -1;                            ///< before the first node
  static constexpr int kEnd = std::numeric_limits<int>::max();  ///< until the frame is complete
  int first = kUpload, last = kEnd;

  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

/// How the blocks of a frame share memory. Filled, for tests: as Shared, and what a block holds before its
/// first node and behind its last one is overwritten with a pattern. Apart: no two blocks share an address.
enum class MemorySharing : std::uint8_t { Shared, Apart, Filled };

class MemoryPlan {
 public:
  /// A block of `bytes`, aligned to kAlignment, that nobody else ever uses. Returns its number.
  std::size_t add(std::size_t bytes);
  /// The same for one that is needed for a while.
  std::size_t add(std::size_t bytes, const Lifetime& lifetime);

  /// Places all blocks: those with memory of their own first, then the others, the largest first, each at the
  /// lowest offset at which no block lies that is needed at the same time (first fit).
  void place(MemorySharing sharing);

  // After place:
  std::size_t offset(std::size_t block) const { return blocks_[block].offset; }
  std::size_t bytes() const { return bytes_; }
  /// What it would be if no two blocks shared an address.
  std::size_t bytes_apart() const;

  struct Block {
    std::size_t bytes = 0, offset = 0;
    bool own = true;  ///< memory of its own
    Lifetime lifetime;
  };
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::size_t first_fit(const std::vector<std::size_t>& placed, const Block& block) const;

  std::vector<Block> blocks_;
  std::size_t own_bytes_ = 0, bytes_ = 0;
};

}  // namespace contorno
