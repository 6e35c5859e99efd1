// Linking inside one band of cell rows: finds every segment once, follows it forward to the end of its
// contour or of the band, and backward where it does not close. Works on bits only; samples are looked at
// where one is suspect. One task per band; bands share nothing but the chunk pool.
#pragma once

#include <cstdint>

#include "stages/contours/cpu/chains.h"

namespace contorno {

/// A band and what its task may write to.
struct Band {
  std::uint32_t task = 0;
  std::int64_t first_row = 0, end_row = 0;  ///< cell rows
  std::uint64_t* unvisited = nullptr;  ///< 2 words per word of bits, for the band's rows and one on each side
  Detail** entries =
      nullptr;  ///< fragments by first segment: of the first row, then of the last (2 * width each)
  std::uint64_t min_points = 0;

  static std::size_t unvisited_words(std::int64_t rows, std::int64_t row_words) {
    return static_cast<std::size_t>(2 * (rows + 2) * row_words);
  }
  static std::size_t entry_count(int width) { return 4 * static_cast<std::size_t>(width); }
  Detail*& entry(std::uint64_t segment, std::int64_t row_bits, int width) const;
};

struct BandResult {
  Chunk* runs = nullptr;
  std::uint64_t points = 0,
                contours = 0;  ///< of contours that lie in the band; those across bands come later
  bool has_fragments = false;
};

BandResult link_band(const Band& band, const CellBits& cells, const WalkTable& table, const ChunkPool& pool);

}  // namespace contorno
