// Linking inside one band of cell rows: finds each segment once, follows its contour forward to the end of
// the contour or of the band, and then backward unless it is closed. Reads the bits only, and the samples
// where one is suspect. One task a band; bands share nothing but the chunk pool.
#pragma once

#include <cstdint>

#include "stages/contours/cpu/chains.h"
#include "stages/contours/cpu/level_words.h"

namespace contorno {

/// One band, and the memory that its task writes to.
struct Band {
  std::uint32_t task = 0;
  std::int64_t first_row = 0, end_row = 0;  ///< cell rows
  std::uint64_t* unvisited = nullptr;  ///< 2 words per word of bits, for the band's rows and one on each side
  Detail** entries = nullptr;  ///< fragments by first segment: 2 * width of the first row, then of the last
  std::uint32_t* words = nullptr;  ///< one for each word of its rows; only used with LevelWords
  std::uint64_t min_points = 0;

  static std::size_t unvisited_words(std::int64_t rows, std::int64_t row_words) {
    return static_cast<std::size_t>(2 * (rows + 2) * row_words);
  }
  static std::size_t entry_count(int width) { return 4 * static_cast<std::size_t>(width); }
  Detail*& entry(std::uint64_t segment, std::int64_t row_bits, int width) const;
};

struct BandResult {
  Chunk* runs = nullptr;
  std::uint64_t points = 0, contours = 0;  ///< points and number of the contours inside the band
  bool has_fragments = false;
};

/// Which words of a plane may have crossed cells: those of a level, by its rank. Without spans: all.
struct LevelWords {
  WordSpans spans;
  std::uint32_t rank = 0;

  bool are_all() const { return spans.spans == nullptr; }
};

BandResult link_band(const Band& band, const CellBits& cells, const LevelWords& words, const WalkTable& table,
                     const ChunkPool& pool);

}  // namespace contorno
