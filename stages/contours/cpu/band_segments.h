// Which segments a row of cells has, as bits, 64 cells at a time. Internal.
#pragma once

#include <cstdint>

#include "stages/contours/cpu/cell_bits.h"

namespace contorno {

/// Fills two words of `found` for each word (64 cells) of a row of cells: bits of the cells with a first
/// segment, then of those with a second one. Segments of cells with an unusable sample and segments of length
/// zero are left out.
void find_segments(const CellBits& cells, std::int64_t row, std::uint64_t* found);

}  // namespace contorno
