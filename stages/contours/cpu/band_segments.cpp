#include "stages/contours/cpu/band_segments.h"

#include <bit>

namespace contorno {
namespace {

/// The bit of each cell's right sample, where `row` has that of its left one.
std::uint64_t shifted(const std::uint64_t* row, std::int64_t word, std::int64_t words) {
  return (row[word] >> 1) | (word + 1 < words ? row[word + 1] << 63 : 0);
}

void find_crossed(const PlaneBits& bits, std::int64_t row, const WordRange& range, std::uint64_t* found) {
  const std::uint64_t *upper = bits.high_row(row), *lower = bits.high_row(row + 1);
  const std::int64_t words = bits.row_words, cells = bits.width - 1;
  for (std::int64_t word = range.begin; word < range.end; ++word) {
    const std::uint64_t ul = upper[word], ur = shifted(upper, word, words);
    const std::uint64_t ll = lower[word], lr = shifted(lower, word, words);
    found[2 * word] = crossed_cells(ul, ur, ll, lr);
    found[2 * word + 1] = saddle_cells(ul, ur, ll, lr);
  }
  // The last column of samples begins no cell.
  if ((cells >> 6) < range.begin || (cells >> 6) >= range.end) return;
  const std::uint64_t inside = (std::uint64_t{1} << (cells & 63)) - 1;
  for (const std::int64_t i : {2 * (cells >> 6), 2 * (cells >> 6) + 1}) found[i] &= inside;
}

void drop_unusable(const PlaneBits& bits, std::int64_t sample_row, const WordRange& range,
                   std::uint64_t* found) {
  if ((bits.row_flags[sample_row] & kRowHasUnusable) == 0) return;
  const std::uint64_t* usable = bits.usable_row(sample_row);
  for (std::int64_t word = range.begin; word < range.end; ++word) {
    const std::uint64_t both = usable[word] & shifted(usable, word, bits.row_words);
    found[2 * word] &= both;
    found[2 * word + 1] &= both;
  }
}

/// Only where a sample is suspect can a segment have no length; samples are looked at to tell.
void drop_zero_length(const CellBits& cells, std::int64_t row, const WordRange& range, std::uint64_t* found) {
  const PlaneBits& bits = cells.bits();
  const bool above = (bits.row_flags[row] & kRowHasSuspect) != 0;
  const bool below = (bits.row_flags[row + 1] & kRowHasSuspect) != 0;
  if (!above && !below) return;
  for (std::int64_t word = range.begin; word < range.end; ++word) {
    std::uint64_t suspects = 0;
    for (const std::int64_t r : {row, row + 1}) {
      if (!(r == row ? above : below)) continue;
      const std::uint64_t* suspect = bits.suspect_row(r);
      suspects |= suspect[word] | shifted(suspect, word, bits.row_words);
    }
    for (int sub = 0; sub < 2; ++sub) {
      std::uint64_t& segments = found[2 * word + sub];
      for (std::uint64_t rest = segments & suspects; rest != 0; rest &= rest - 1) {
        const int bit = std::countr_zero(rest);
        if (!cells.has_segment(row, 64 * word + bit, sub)) segments &= ~(std::uint64_t{1} << bit);
      }
    }
  }
}

}  // namespace

void find_segments(const CellBits& cells, std::int64_t row, const WordRange& range, std::uint64_t* found) {
  find_crossed(cells.bits(), row, range, found);
  for (const std::int64_t sample_row : {row, row + 1}) drop_unusable(cells.bits(), sample_row, range, found);
  drop_zero_length(cells, row, range, found);
}

}  // namespace contorno
