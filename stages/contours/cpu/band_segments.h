// Which segments a row of cells has, as bits, 64 cells at a time. Internal.
#pragma once

#include <cstdint>

#include "stages/contours/cpu/cell_bits.h"

namespace contorno {

/// For each of the row's words of cells two words in `found`: cells with a first segment, and with a second
/// one. Segments between unusable samples and those of length zero are left out.
void find_segments(const CellBits& cells, std::int64_t row, std::uint64_t* found);

}  // namespace contorno
