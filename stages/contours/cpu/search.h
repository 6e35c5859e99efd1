// All contours of a map on the CPU: the constructor marks samples, links segments and counts; emit() writes
// contours to the caller's arrays. A search owns its memory. A thread keeps the memory of its last search,
// unless that is large, so that many small searches do not allocate. A search is used by one thread; any
// number of them may run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "stages/contours/cpu/assemble.h"
#include "stages/contours/cpu/sample_bits.h"

namespace contorno {

/// Uninitialised host memory, which its thread keeps and gives to the next KeptBlock. Throws
/// Error(OutOfMemory).
class KeptBlock {
 public:
  explicit KeptBlock(std::size_t bytes);
  ~KeptBlock();
  KeptBlock(const KeptBlock&) = delete;
  KeptBlock& operator=(const KeptBlock&) = delete;
  std::byte* data() const { return block_.data(); }

 private:
  Block block_;
};

struct ContourSearchOptions {
  AssemblyOptions assembly;
  ImageView mask;  ///< one channel of U8, the map's size, 0 = do not use; for all classes; without data none
  Simd simd = best_simd();
};

class ContourSearch {
 public:
  /// Links and counts. `map` is height x width x channels of any type and layout, read until the last `emit`
  /// and not owned; `levels` has one for each channel, in units of the values. Throws Error(BadConfig) for a
  /// map or levels that the assembly cannot take, Error(BadData) for more points than 32 bits can count.
  ContourSearch(const ImageView& map, const std::vector<double>& levels, const ContourSearchOptions& options);

  std::uint64_t points() const { return counts_.points; }
  std::uint64_t contours() const { return counts_.contours; }
  /// Fills the caller's arrays: `points()` points (row, column, in samples), `contours()` + 1 offsets,
  /// `contours()` closed flags, and channels + 1 numbers of first contours in `class_begin`.
  void emit(const EmitTarget& target, std::uint32_t* class_begin) const;

 private:
  ImageView map_;
  Assembler assembler_;
  std::uint64_t most_contours_, most_points_;
  KeptBlock memory_;
  Block larger_;  // instead of the scratch in memory_
  std::byte* scratch_;
  AssemblyCounts counts_;
};

}  // namespace contorno
