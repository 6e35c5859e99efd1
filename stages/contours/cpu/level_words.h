// Many levels of one channel on the CPU, where the map is read once: for each word (64 cells of a row) which
// of the levels its contours may cross. A level then visits only the words whose samples lie on both sides of
// it, so that levels cost what their contours cost. Filled in parallel; reading is const and safe from any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stages/contours/cpu/crossings.h"
#include "stages/shared/sample_value.h"

namespace contorno {

/// A range of levels, by their ranks in ascending order.
struct RankSpan {
  static constexpr std::uint16_t kNone = 0xFFFF;  ///< the rank of a level that crosses nothing (NaN)
  std::uint16_t begin = kNone, end = 0;

  bool has(std::uint32_t rank) const { return begin <= rank && rank < end; }
  void add(const RankSpan& other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
};

/// A span for each word of each row, and one for each block of kBlockWords of them, with which most words are
/// passed over.
struct WordSpans {
  static constexpr std::int64_t kBlockWords = 8;
  std::int64_t row_words = 0, row_blocks = 0;
  RankSpan* spans = nullptr;   ///< rows * row_words
  RankSpan* blocks = nullptr;  ///< rows * row_blocks

  RankSpan* row(std::int64_t row) const { return spans + row * row_words; }
  /// Sets the blocks of a row from its words.
  void sum_up(std::int64_t row) const;
  /// Calls f(row, word) for the words of some rows that have a level, in raster order.
  template <class F>
  void for_words(std::uint32_t rank, std::int64_t first_row, std::int64_t end_row, const F& f) const {
    for (std::int64_t row = first_row; row < end_row; ++row)
      for (std::int64_t block = 0; block < row_blocks; ++block) {
        if (!blocks[row * row_blocks + block].has(rank)) continue;
        const std::int64_t end = std::min((block + 1) * kBlockWords, row_words);
        for (std::int64_t word = block * kBlockWords; word < end; ++word)
          if (spans[row * row_words + word].has(rank)) f(row, word);
      }
  }
};

/// What is known of a channel.
struct ChannelWords {
  WordSpans cells;    ///< by row of cells: where a level may cross a cell
  WordSpans samples;  ///< by row of samples: whose samples belong to a cell of such a word
  PlaneBits usable;   ///< its `usable` and `row_flags`; of no level
};

/// Bytes of a block for a channel of this format, and its part of the block.
std::size_t channel_words_bytes(const ImageFormat& map);
ChannelWords channel_words(void* block, const ImageFormat& map);

/// Fills it in from the channel's samples and from a mask (without data: none), which makes samples unusable.
/// `levels` ascend; at most kMostRanks.
inline constexpr std::size_t kMostRanks = RankSpan::kNone - 1;
void read_channel(const Plane& samples, const ImageView& mask, std::span<const double> levels,
                  const ChannelWords& channel, int threads);

}  // namespace contorno
