// Many levels of one channel on the CPU, where the map is read once: for each word (64 cells of a row) which
// of the levels its contours may cross, and which of its samples are above them. A level then visits only the
// words whose samples lie on both sides of it, so that levels cost what their contours cost. Filled in
// parallel; reading is const and safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/contours/cpu/crossings.h"
#include "stages/contours/cpu/sample_bits.h"
#include "stages/shared/sample_value.h"

namespace contorno {

/// The levels begin to end - 1, by their ranks in ascending order.
struct RankSpan {
  static constexpr std::uint16_t kNone = 0xFFFF;  ///< the rank of a level that crosses nothing (NaN), and the
                                                  ///< beginning of an empty span
  std::uint16_t begin = kNone, end = 0;

  bool has(std::uint32_t rank) const { return begin <= rank && rank < end; }
  std::uint32_t count() const { return begin < end ? end - begin : 0U; }
  void add(const RankSpan& other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
};

/// A span for each word of each row, and one for each block of kBlockWords words of kBlockRows rows, with
/// which most words are passed over.
struct WordSpans {
  static constexpr std::int64_t kBlockWords = 8, kBlockRows = 8;
  static constexpr std::int64_t kMostRowBlocks = kMaxSide / (64 * kBlockWords);
  static_assert(kMaxSide % (64 * kBlockWords) == 0);
  std::int64_t row_words = 0, row_blocks = 0;
  RankSpan* spans = nullptr;   ///< rows * row_words
  RankSpan* blocks = nullptr;  ///< rows / kBlockRows, rounded up, * row_blocks

  RankSpan* row(std::int64_t row) const { return spans + row * row_words; }
  RankSpan* block_row(std::int64_t row) const { return blocks + row / kBlockRows * row_blocks; }
  /// Adds a row to its blocks; the first row of blocks sets them.
  void sum_up(std::int64_t row) const;
  /// Calls f(row, word) for the words of the rows first_row to end_row - 1 that have a level, in raster
  /// order.
  template <class F>
  void for_words(std::uint32_t rank, std::int64_t first_row, std::int64_t end_row, const F& f) const {
    for (std::int64_t from = first_row; from < end_row;) {
      const std::int64_t end = std::min((from / kBlockRows + 1) * kBlockRows, end_row);
      std::int64_t hit[kMostRowBlocks], hits = 0;
      for (std::int64_t block = 0; block < row_blocks; ++block)
        if (block_row(from)[block].has(rank)) hit[hits++] = block;
      for (std::int64_t row = from; hits > 0 && row < end; ++row)
        for (std::int64_t i = 0; i < hits; ++i) {
          const std::int64_t end_word = std::min((hit[i] + 1) * kBlockWords, row_words);
          for (std::int64_t word = hit[i] * kBlockWords; word < end_word; ++word)
            if (this->row(row)[word].has(rank)) f(row, word);
        }
      from = end;
    }
  }
};

/// Bits of samples that were compared while they were at hand: for each word of samples a word of bits for
/// each level of its span. Not of words with samples whose comparison needs a second look (PlaneBits), nor of
/// those for which there was no room.
struct KeptBits {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint64_t* bits = nullptr;  ///< `capacity` of them, below 2^32
  std::uint64_t capacity = 0;
  std::uint64_t* used =
      nullptr;  ///< how many were asked for, which may be more; threads add to it atomically
  std::uint32_t* begin = nullptr;  ///< rows * row_words: the first of a word that has levels, or kNone
};

/// What is known of a channel.
struct ChannelWords {
  WordSpans cells;    ///< levels that may cross a cell of each word, by row of cells
  WordSpans samples;  ///< levels of words of cells to which a sample of a word belongs, by row of samples
  KeptBits kept;      ///< bits that were kept, of the words of samples
  PlaneBits usable;   ///< its `usable` and `row_flags`; of no level

  /// The bits of a word of samples that has a level; null where they were not kept.
  const std::uint64_t* kept_bits(std::int64_t row, std::int64_t word, std::uint32_t rank) const {
    const std::uint32_t begin = kept.begin[row * samples.row_words + word];
    return begin == KeptBits::kNone ? nullptr : kept.bits + begin + (rank - samples.row(row)[word].begin);
  }
};

/// The levels of a channel, in ascending order, and what compares samples with each.
struct ChannelLevels {
  std::vector<double> values;
  std::vector<BitReader> readers;
};

/// 64 samples of a row, or as many as it has from there, one behind the other: where they lie, or in `copy`.
struct WordSamples {
  alignas(64) std::byte copy[64 * sizeof(double)];
  const void* at = nullptr;
  std::size_t count = 0;
  WordSamples(const Plane& samples, std::int64_t row, std::int64_t word);
  WordSamples(const WordSamples&) = delete;  // `at` may lie in `copy`
  WordSamples& operator=(const WordSamples&) = delete;
};

/// Bytes that a channel of this format needs, and its arrays in a block of so many bytes, which belongs to
/// the caller.
std::size_t channel_words_bytes(const ImageFormat& map);
ChannelWords channel_words(void* block, const ImageFormat& map);

/// Fills it in from the channel's samples and from a mask (without data: none), which makes samples unusable.
/// There may be at most kMostRanks levels.
inline constexpr std::size_t kMostRanks = RankSpan::kNone - 1;
void read_channel(const Plane& samples, const ImageView& mask, const ChannelLevels& levels,
                  const ChannelWords& channel, int threads);

}  // namespace contorno
