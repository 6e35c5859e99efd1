// Steps 2 to 4 of a batch of levels: from ranks of samples to linked crossings.
//
//   Reads   rank
//   Writes  offset; crossing, link, the leaders of open pieces
//
// An edge is crossed by the levels from its lower rank up to its higher one. A contour goes through a
// crossing in one direction only, so a crossing stands for the segment that begins there. Its number follows
// from its edge and its level without a search.
#pragma once

#include "stages/contours/cuda/batch_samples.cuh"

namespace contorno::contour_engine {

/// The lowest `count` bytes of a word.
__device__ __forceinline__ unsigned first_bytes(int count) {
  return count >= 4 ? ~0U : (1U << 8 * max(count, 0)) - 1;
}

/// The words of ranks of which one thread counts the crossings. All have four samples, but those in the
/// column on the right, which have one.
struct RankWords {
  static constexpr int kRowWords = kTileColumns / 4, kWords = kTileRows * kRowWords;
  static constexpr int kInner = kWords / kBatchThreads;  ///< words of a thread, beside one of the border's
  static constexpr int kCount = kInner + 1;
  static_assert(kWords % kBatchThreads == 0 && kBatchThreads % kRowWords == 0);
  static_assert(kRowWords + kTileRows <= kBatchThreads);

  /// Row and first column of word `k` of this thread; a row below the tile if it has none.
  static __device__ __forceinline__ int row_of(int k) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (k < kInner) return thread / kRowWords + k * (kBatchThreads / kRowWords);
    return thread < kRowWords ? kTileRows
                              : thread - kRowWords + (thread < kRowWords + kTileRows ? 0 : kTileRows);
  }
  static __device__ __forceinline__ int column_of(int k) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (k < kInner) return thread % kRowWords * 4;
    return min(thread, kRowWords) * 4;
  }
};

/// In each byte the crossings of a sample: on the edge to its right and on the edge below it. Those at the
/// samples (row, col) to (row, col + 3).
template <class S>
__device__ __forceinline__ unsigned count_crossings(const LevelBatch<S>& batch, int row, int col) {
  const int rows = batch.bounds.rows, columns = batch.bounds.columns;
  if (row > rows) return 0;
  const unsigned* const words = batch.shared.rank_words + (row * kRankPitch + col) / 4;
  const unsigned across =
      __vabsdiffu4(words[0], __funnelshift_r(words[0], words[1], 8)) & first_bytes(columns - col);
  if (row == rows) return across;
  return across + (__vabsdiffu4(words[0], words[kRankPitch / 4]) & first_bytes(columns + 1 - col));
}

/// A crossing in the list, before it is linked: its sample, and how many crossings of the sample come before
/// it.
__device__ __forceinline__ unsigned list_word(int row, int col, unsigned before) {
  return static_cast<unsigned>(col | row << 7) | before << 13;
}

/// Lists the crossings of some words, `counts`, as number `first` and following.
template <class S>
__device__ __forceinline__ void list_words(const LevelBatch<S>& batch,
                                           const unsigned (&counts)[RankWords::kCount], unsigned first) {
  auto& s = batch.shared;
#pragma unroll
  for (int k = 0; k < RankWords::kCount; ++k) {
    const int row = RankWords::row_of(k), col = RankWords::column_of(k);
    if (row > kTileRows) return;
    // Byte k of `ends` has the sum up to it: of at most 4 * 62.
    const unsigned ends = counts[k] * 0x01010101U, begins = ends << 8;
    s.offset_words[(row * kRankPitch + col) / 4] = {__byte_perm(begins, 0, 0x4140) + first * 0x10001,
                                                    __byte_perm(begins, 0, 0x4342) + first * 0x10001};
    first += ends >> 24;
    unsigned at = first;
#pragma unroll 1
    for (unsigned left = counts[k]; left != 0;) {
      const int shift = (31 - __clz(static_cast<int>(left))) & 24;
      left -= 1U << shift;
      s.crossing[--at] = list_word(row, col + shift / 8, left >> shift);
    }
  }
}

/// Numbers and counts the crossings, and lists them if there is room. Ends with a barrier.
template <class S>
__device__ __forceinline__ void list_crossings(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  unsigned counts[RankWords::kCount], own = 0;
#pragma unroll
  for (int k = 0; k < RankWords::kCount; ++k) {
    counts[k] = count_crossings(batch, RankWords::row_of(k), RankWords::column_of(k));
    own += counts[k] * 0x01010101U >> 24;
  }
  const unsigned sum = warp_scan(own);
  unsigned base = 0;
  if (batch.thread % 32 == 31) base = atomicAdd(&s.crossings, sum);
  base = __shfl_sync(~0U, base, 31);
  if (base + __shfl_sync(~0U, sum, 31) <= kBatchCrossings) list_words(batch, counts, base + sum - own);
  __syncthreads();
}

/// Whether a cell is one of the tile's.
template <class S>
__device__ __forceinline__ bool has_cell(const LevelBatch<S>& batch, int row, int col) {
  return static_cast<unsigned>(row) < static_cast<unsigned>(batch.bounds.rows) &&
         static_cast<unsigned>(col) < static_cast<unsigned>(batch.bounds.columns);
}

/// A crossing with its direction. Ranks are named by their places in BatchShared::rank.
struct DirectedCrossing {
  int row, col, level;
  bool across;
  bool back;      ///< the contour goes down or to the left; else up or to the right
  int low, high;  ///< the place of the edge's low sample, on the contour's left, and of its high one
  int low_rank;
  int ahead;  ///< places from the edge's samples to those beyond, in the contour's direction

  __device__ __forceinline__ DirectedCrossing(const unsigned char* rank, unsigned word)
      : row(static_cast<int>(word >> 7 & 63)), col(static_cast<int>(word & 127)) {
    const auto before = static_cast<int>(word >> 13);
    const int at = row * kRankPitch + col;
    const int own = rank[at], right = rank[at + 1], in_across = abs(own - right);
    across = before < in_across;
    const int other_at = at + (across ? 1 : kRankPitch);
    const int other = across ? right : rank[other_at];
    level = min(own, other) + before - (across ? 0 : in_across);
    // A contour has low samples on its left.
    back = own > other;
    low = back ? other_at : at;
    high = back ? at : other_at;
    low_rank = min(own, other);
    const int step = across ? kRankPitch : 1;
    ahead = across != back ? -step : step;
  }
  /// The cell ahead of the edge, or the one behind it.
  __device__ __forceinline__ int row_of_cell(bool ahead_of) const {
    return row - (across && back != ahead_of ? 1 : 0);
  }
  __device__ __forceinline__ int column_of_cell(bool ahead_of) const {
    return col - (!across && back == ahead_of ? 1 : 0);
  }
  /// The side of the cell ahead through which the contour enters it.
  __device__ __forceinline__ int side() const {
    return across ? (back ? kTop : kBottom) : (back ? kRight : kLeft);
  }
};

/// The link of a crossing, whose contour enters a cell of the tile.
template <class S>
__device__ __forceinline__ unsigned link_inside(const LevelBatch<S>& batch, const DirectedCrossing& from) {
  const auto& s = batch.shared;
  const int left_rank = s.rank[from.low + from.ahead], right_rank = s.rank[from.high + from.ahead];
  const bool left_high = left_rank > from.level, right_high = right_rank > from.level;
  const Turn turn = turn_of(left_high, right_high, batch.group.connectivity());
  // The edge through which the contour leaves the cell: its upper or left sample, and its lower rank.
  const bool straight = turn == kStraight;
  const int beside = turn == kTurnRight ? from.high : from.low;
  const int at = straight ? min(from.low, from.high) + from.ahead : min(beside, beside + from.ahead);
  const int least = straight ? left_rank : turn == kTurnRight ? right_rank : from.low_rank;
  const bool across = straight == from.across;
  const int in_across = across ? 0 : abs(static_cast<int>(s.rank[at]) - static_cast<int>(s.rank[at + 1]));
  const unsigned next = s.offset[at] + static_cast<unsigned>(in_across + from.level - least);
  const unsigned sub =
      left_high && !right_high ? saddle_segment_from(from.side(), batch.group.connectivity()) : 0;
  return next | segment_key(from.row_of_cell(true), from.column_of_cell(true), sub) << kKeyShift;
}

/// Links the listed crossings, and lists those at which pieces enter the tile. Ends with a barrier.
template <class S>
__device__ __forceinline__ void link_crossings(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < s.crossings; i += kBatchThreads) {
    const DirectedCrossing from(s.rank, s.crossing[i]);
    s.crossing[i] = pack_crossing(from.row, from.col, from.across, static_cast<unsigned>(from.level));
    const bool goes_on = has_cell(batch, from.row_of_cell(true), from.column_of_cell(true));
    s.link[i] = goes_on ? link_inside(batch, from) : kNoCrossing;
    if (has_cell(batch, from.row_of_cell(false), from.column_of_cell(false))) continue;
    const unsigned leader = atomicAdd(&s.open, 1U);
    if (leader < kBatchPieces) s.leader[leader] = static_cast<unsigned short>(i);
  }
  __syncthreads();
}

}  // namespace contorno::contour_engine
