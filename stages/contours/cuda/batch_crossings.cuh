// Steps 2 to 4 of a batch of levels, by crossings instead of segments: from intervals of samples to linked
// crossings.
//
//   Reads   interval
//   Writes  offset; crossing, link, the leaders of open pieces
//
// An edge is crossed by the levels from its lower interval up to its higher one. A contour goes through a
// crossing in one direction only, so a crossing stands for the segment that begins there. Its number follows
// from its edge and its level without a search.
#pragma once

#include "stages/contours/cuda/batch_samples.cuh"

namespace contorno::contour_engine {

/// The lowest `count` bytes of a word.
__device__ __forceinline__ unsigned first_bytes(int count) {
  return count >= 4 ? ~0U : (1U << 8 * max(count, 0)) - 1;
}

/// The words of intervals of which one thread counts the crossings. All have four samples, but those in the
/// column on the right, which have one.
struct IntervalWords {
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

/// In each byte the crossings of a sample: on the edge to its right and on the edge below it. Those of four
/// samples, the first of which is at (row, col). `across`, `below`: the bytes of samples whose edge to the
/// right, or below, is one of the tile's.
template <class S>
__device__ __forceinline__ unsigned count_crossings(const LevelBatch<S>& batch, int row, int col,
                                                    unsigned across, unsigned below) {
  if (row > batch.bounds.rows) return 0;
  const unsigned* const words = batch.shared.interval_words + (row * kPitch + col) / 4;
  const unsigned on_right = __vabsdiffu4(words[0], __funnelshift_r(words[0], words[1], 8)) & across;
  if (row == batch.bounds.rows) return on_right;
  return on_right + (__vabsdiffu4(words[0], words[kPitch / 4]) & below);
}

/// The crossings of all words of this thread.
template <class S>
__device__ __forceinline__ void count_words(const LevelBatch<S>& batch,
                                            unsigned (&counts)[IntervalWords::kCount]) {
  unsigned across = 0, below = 0;
#pragma unroll
  for (int k = 0; k < IntervalWords::kCount; ++k) {
    const int row = IntervalWords::row_of(k), col = IntervalWords::column_of(k);
    if (k == 0 || k == IntervalWords::kInner) {
      across = first_bytes(batch.bounds.columns - col);
      below = first_bytes(batch.bounds.columns + 1 - col);
    }
    counts[k] = count_crossings(batch, row, col, across, below);
  }
}

/// A crossing in the list, before it is linked: its sample's place, and how many crossings of the sample come
/// before it.
__device__ __forceinline__ unsigned list_word(int place, unsigned before) {
  return static_cast<unsigned>(place) + (before << kPlaceBits);
}

/// Lists the crossings of some words, `counts`, as number `first` and following.
template <class S>
__device__ __forceinline__ void list_words(const LevelBatch<S>& batch,
                                           const unsigned (&counts)[IntervalWords::kCount], unsigned first) {
  auto& s = batch.shared;
#pragma unroll
  for (int k = 0; k < IntervalWords::kCount; ++k) {
    const int place = IntervalWords::row_of(k) * kPitch + IntervalWords::column_of(k);
    if (place >= kPlaces) return;
    // Byte j of `ends` is the sum of bytes 0 to j, at most 4 * 62.
    const unsigned ends = counts[k] * 0x01010101U, begins = ends << 8;
    s.offset_words[place / 4] = {__byte_perm(begins, 0, 0x4140) + first * 0x10001,
                                 __byte_perm(begins, 0, 0x4342) + first * 0x10001};
    first += ends >> 24;
    unsigned* to = s.crossing + first;
#pragma unroll 1
    for (unsigned left = counts[k]; left != 0;) {
      const int shift = (31 - __clz(static_cast<int>(left))) & 24;
      left -= 1U << shift;
      *--to = list_word(place + shift / 8, left >> shift);
    }
  }
}

/// Numbers and counts the crossings, and lists them if there is room. Ends with a barrier.
template <class S>
__device__ __forceinline__ void list_crossings(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  unsigned counts[IntervalWords::kCount], own = 0;
  count_words(batch, counts);
#pragma unroll
  for (int k = 0; k < IntervalWords::kCount; ++k) own += counts[k] * 0x01010101U >> 24;
  const unsigned sum = sum_to_lane(own);
  unsigned base = 0;
  if (batch.thread % 32 == 31) base = atomicAdd(&s.crossings, sum);
  base = __shfl_sync(~0U, base, 31);
  if (base + __shfl_sync(~0U, sum, 31) <= kBatchCrossings) list_words(batch, counts, base + sum - own);
  __syncthreads();
}

/// A crossing with its direction. Places are those of samples.
struct DirectedCrossing {
  int place, level;
  bool across;
  bool back;      ///< the contour goes down or to the left; else up or to the right
  int low, high;  ///< the edge's low sample, on the contour's left, and its high one
  int low_interval;
  int ahead;  ///< places from the edge's samples to those beyond, in the contour's direction

  __device__ __forceinline__ DirectedCrossing(const unsigned char* interval, unsigned word)
      : place(static_cast<int>(word & kPlaceMask)) {
    const auto before = static_cast<int>(word >> kPlaceBits);
    const int own = interval[place], right = interval[place + 1], in_across = abs(own - right);
    across = before < in_across;
    const int step = across ? 1 : kPitch;
    const int other = across ? right : interval[place + kPitch];
    low_interval = min(own, other);
    level = low_interval + before - (across ? 0 : in_across);
    // A contour has low samples on its left.
    back = own > other;
    low = place + (back ? step : 0);
    high = place + (back ? 0 : step);
    ahead = across ? kPitch : 1;
    if (is_ahead_first()) ahead = -ahead;
  }
  /// Whether the contour goes on in the cell above the edge or on its left.
  __device__ __forceinline__ bool is_ahead_first() const { return across != back; }
  /// The side of the cell ahead through which the contour enters it.
  __device__ __forceinline__ int side() const {
    return across ? (back ? kTop : kBottom) : (back ? kRight : kLeft);
  }
};

/// The link of a crossing, whose contour enters a cell of the tile.
template <class S>
__device__ __forceinline__ unsigned link_inside(const LevelBatch<S>& batch, const DirectedCrossing& from) {
  const auto& s = batch.shared;
  const int left_interval = s.interval[from.low + from.ahead],
            right_interval = s.interval[from.high + from.ahead];
  const bool left_high = left_interval > from.level, right_high = right_interval > from.level;
  const Turn turn = turn_of(left_high, right_high, batch.group.connectivity());
  // The edge through which the contour leaves the cell: its upper or left sample, and its lower interval.
  const bool straight = turn == kStraight;
  const int before_ahead = min(from.ahead, 0), cell = from.place + before_ahead;
  const int at =
      straight ? from.place + from.ahead : (turn == kTurnRight ? from.high : from.low) + before_ahead;
  const int least = straight ? left_interval : turn == kTurnRight ? right_interval : from.low_interval;
  const bool across = straight == from.across;
  const int in_across =
      across ? 0 : abs(static_cast<int>(s.interval[at]) - static_cast<int>(s.interval[at + 1]));
  const unsigned next = s.offset[at] + static_cast<unsigned>(in_across + from.level - least);
  const unsigned sub =
      left_high && !right_high ? saddle_segment_from(from.side(), batch.group.connectivity()) : 0;
  return next | segment_key(cell, sub) << kKeyShift;
}

/// Links the listed crossings, and lists those at which pieces enter the tile. Ends with a barrier.
template <class S>
__device__ __forceinline__ void link_crossings(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const unsigned crossings = s.crossings;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < crossings; i += kBatchThreads) {
    const DirectedCrossing from(s.interval, s.crossing[i]);
    s.crossing[i] =
        pack_crossing(static_cast<unsigned>(from.place), from.across, static_cast<unsigned>(from.level));
    // On either side of the edge lies a cell of the tile, or none.
    const int row = row_of_place(static_cast<unsigned>(from.place)), col = from.place - row * kPitch;
    const int line = from.across ? row : col;
    const bool has_first = line > 0;
    const bool has_second = line < (from.across ? batch.bounds.rows : batch.bounds.columns);
    const bool goes_on = from.is_ahead_first() ? has_first : has_second;
    s.link[i] = goes_on ? link_inside(batch, from) : kNoCrossing;
    if (from.is_ahead_first() ? has_second : has_first) continue;
    const unsigned leader = atomicAdd(&s.open, 1U);
    if (leader < kBatchPieces) s.leader[leader] = static_cast<unsigned short>(i);
  }
  __syncthreads();
}

}  // namespace contorno::contour_engine
