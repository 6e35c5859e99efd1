// Which segments a row of cells has, as bits, 64 cells at a time. Internal.
#pragma once

#include <cstdint>

#include "stages/contours/cpu/cell_bits.h"

namespace contorno {

/// Some words of a row.
struct WordRange {
  std::int64_t begin = 0, end = 0;
};

/// Fills two words of `found` for each word (64 cells) of a range of a row of cells: bits of the cells with a
/// first segment, then of those with a second one. Segments of cells with an unusable sample and segments of
/// length zero are left out. `found` is that of the row's first word.
void find_segments(const CellBits& cells, std::int64_t row, const WordRange& range, std::uint64_t* found);

}  // namespace contorno
