// The block that marching squares hands to the assembly: one bit a sample and class (above the level or not),
// and where needed a bit for "may be used" (not NaN, not masked) and a bit for "look closely" (so near to the
// level, or so far, that a crossing point may fall exactly on a sample). Plain arrays in one block, fixed by
// the map's format. The block is owned by the caller. Only the CPU uses it: the engine on a device goes from
// the map to contours without it.
//
// Bit positions: sample (row, col) is bit row * 64 * row_words + col of its class's plane. A segment is known
// by its id 2 * position + sub, where position is that of the cell's upper left sample and sub numbers the
// segments of the cell: raster order.
#pragma once

#include <cstdint>

#include "pipeline/value/contours.h"

namespace contorno {

/// Set for a row whose `usable` or `suspect` words are filled in; the words mean nothing otherwise.
enum RowFlag : std::uint8_t { kRowHasUnusable = 1, kRowHasSuspect = 2 };

/// One class.
struct PlaneBits {
  int width = 0, height = 0;
  std::int64_t row_words = 0;
  std::uint64_t* high = nullptr;  ///< a row of zeros lies before the first row and behind the last
  std::uint64_t* usable = nullptr;
  std::uint64_t* suspect = nullptr;
  std::uint8_t* row_flags = nullptr;  ///< height
  /// `high` is right in crossed cells only: the words of others were not filled in (level_words.h).
  bool partial = false;

  std::int64_t row_bits() const { return 64 * row_words; }
  std::uint64_t* high_row(std::int64_t row) const { return high + row * row_words; }
  std::uint64_t* usable_row(std::int64_t row) const { return usable + row * row_words; }
  std::uint64_t* suspect_row(std::int64_t row) const { return suspect + row * row_words; }

  /// Makes the words of a row meaningful: all usable, none suspect.
  void begin_flag(int row, RowFlag flag) const {
    if ((row_flags[row] & flag) != 0) return;
    row_flags[row] = static_cast<std::uint8_t>(row_flags[row] | flag);
    const bool usable_words = flag == kRowHasUnusable;
    std::uint64_t* words = usable_words ? usable_row(row) : suspect_row(row);
    for (std::int64_t i = 0; i < row_words; ++i) words[i] = usable_words ? ~std::uint64_t{0} : 0;
  }
};

/// Makes the rows of zeros before the first row of `high` and behind the last.
void clear_guard_rows(const PlaneBits& plane);

/// Bytes of a block for maps of this format.
std::size_t crossings_bytes(const ImageFormat& map);
/// The part of a block that belongs to a class.
PlaneBits plane_bits(void* block, const ImageFormat& map, int channel);

}  // namespace contorno
