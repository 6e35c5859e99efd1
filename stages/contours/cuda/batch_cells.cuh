// Steps 3 and 4 of a batch of levels, list and link: from ranks of samples to linked segments.
//
//   Reads   rank
//   Writes  offset; segment, next, the leaders of open pieces
//
// The segments of a cell follow each other from the lowest level to the highest, so a segment's index follows
// from its cell and its level without a search.
#pragma once

#include "stages/contours/cuda/batch_samples.cuh"

namespace contorno::contour_engine {

/// The levels of a cell: those that cross it, [begin, end), and of these those at which it is a saddle. Low
/// ranks are low samples.
struct CellLevels {
  int begin, end, saddle_begin, saddle_end;

  __device__ __forceinline__ CellLevels(int ul, int ur, int ll, int lr) {
    const int most = max(ul, lr), least = min(ul, lr), other_most = max(ur, ll), other_least = min(ur, ll);
    begin = min(least, other_least);
    end = max(most, other_most);
    // Both samples of a diagonal are above both of the other one; else this is empty.
    saddle_begin = min(most, other_most);
    saddle_end = max(least, other_least);
  }
  __device__ __forceinline__ int segments() const { return end - begin + max(saddle_end - saddle_begin, 0); }
  __device__ __forceinline__ bool is_saddle(int level) const {
    return level >= saddle_begin && level < saddle_end;
  }
  /// How many of the cell's segments come before those of `level`, which crosses it.
  __device__ __forceinline__ int before(int level) const {
    return level - begin + max(min(level, saddle_end) - saddle_begin, 0);
  }
};

/// The ranks of a cell's corners.
struct CellRanks {
  int ul, ur, ll, lr;

  template <class T>
  __device__ __forceinline__ CellRanks(const BatchShared<T>& s, int row, int col) {
    const unsigned char* const at = s.rank + row * kRankPitch + col;
    ul = at[0], ur = at[1], ll = at[kRankPitch], lr = at[kRankPitch + 1];
  }
  __device__ __forceinline__ CellLevels levels() const { return {ul, ur, ll, lr}; }
  /// The cell's code (cell_cases.h) at a level.
  __device__ __forceinline__ int code(int level) const {
    return (level < ul ? 1 : 0) | (level < ur ? 2 : 0) | (level < ll ? 4 : 0) | (level < lr ? 8 : 0);
  }
};

/// A segment of a cell, by its level and its number in the cell at that level.
struct LevelSegment {
  int level, sub;
};
/// The n-th segment of a cell.
__device__ __forceinline__ LevelSegment nth_segment(const CellLevels& cell, int n) {
  const int below = cell.saddle_begin - cell.begin, saddles = cell.saddle_end - cell.saddle_begin;
  if (saddles <= 0 || n < below) return {cell.begin + n, 0};
  if (n < below + 2 * saddles) return {cell.saddle_begin + (n - below) / 2, (n - below) % 2};
  return {cell.begin + n - saddles, 0};
}

/// Cells of a row that one thread counts, four at a time: two words of offsets.
inline constexpr int kCellsEach = kTileRows * kTileColumns / kBatchThreads;
static_assert(kTileColumns % kCellsEach == 0 && kCellsEach % 4 == 0);

/// Counts the segments of a thread's cells. Writes how many come before each of its cells, and returns the
/// sum.
template <class S>
__device__ __forceinline__ unsigned count_cells(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const int row = batch.thread * kCellsEach / kTileColumns, col = batch.thread * kCellsEach % kTileColumns;
  const unsigned* const words = s.rank_words + (row * kRankPitch + col) / 4;
  const int columns = row < batch.bounds.rows ? batch.bounds.columns - col : 0;
  unsigned upper = words[0], lower = words[kRankPitch / 4], sum = 0;
#pragma unroll 1
  for (int w = 0; w < kCellsEach / 4; ++w) {
    const unsigned upper_next = words[w + 1], lower_next = words[w + 1 + kRankPitch / 4];
    const auto byte = [](unsigned word, unsigned next, int k) {
      return static_cast<int>((k < 4 ? word >> 8 * k : next) & 255);
    };
    unsigned before[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const CellLevels cell(byte(upper, upper_next, k), byte(upper, upper_next, k + 1),
                            byte(lower, lower_next, k), byte(lower, lower_next, k + 1));
      before[k] = sum;
      sum += 4 * w + k < columns ? static_cast<unsigned>(cell.segments()) : 0;
    }
    s.offset_words[batch.thread * (kCellsEach / 4) + w] = {before[0] | before[1] << 16,
                                                           before[2] | before[3] << 16};
    upper = upper_next, lower = lower_next;
  }
  return sum;
}

/// Lists the cells of the segments, and where each cell's segments begin. Sets how many segments there are;
/// false: there is no room for them. Ends with a barrier.
template <class S>
__device__ __forceinline__ bool list_cells(LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const unsigned own = count_cells(batch);
  const unsigned sum = warp_scan(own);
  if (batch.thread % 32 == 31) s.sums[batch.thread / 32] = sum;
  __syncthreads();
  unsigned first = sum - own, all = 0;
#pragma unroll
  for (int w = 0; w < kBatchWarps; ++w) {
    if (w == batch.thread / 32) first += all;
    all += s.sums[w];
  }
  batch.segments = all;
  if (all > kBatchSegments) return false;
#pragma unroll 1
  for (int w = 0; w < kCellsEach / 4; ++w) {
    uint2& word = s.offset_words[batch.thread * (kCellsEach / 4) + w];
    const uint2 at{word.x + first * 0x10001, word.y + first * 0x10001};
    word = at;
    // Where the next cell's segments begin: of the last cell, behind all of the thread's.
    const unsigned next = w + 1 < kCellsEach / 4
                              ? first + (s.offset_words[batch.thread * (kCellsEach / 4) + w + 1].x & 0xFFFF)
                              : first + own;
    const unsigned begin[5] = {at.x & 0xFFFF, at.x >> 16, at.y & 0xFFFF, at.y >> 16, next};
    const auto cell = static_cast<unsigned>(batch.thread * kCellsEach + 4 * w);
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      if (begin[k] < begin[k + 1]) s.segment[begin[k]] = cell + k;
#pragma unroll 1
      for (unsigned i = begin[k] + 1; i < begin[k + 1]; ++i) s.segment[i] = cell + k;
    }
  }
  __syncthreads();
  return true;
}

/// Whether a cell is one of the tile's.
template <class S>
__device__ __forceinline__ bool has_cell(const LevelBatch<S>& batch, int row, int col) {
  return static_cast<unsigned>(row) < static_cast<unsigned>(batch.bounds.rows) &&
         static_cast<unsigned>(col) < static_cast<unsigned>(batch.bounds.columns);
}

/// Index of the segment that begins where one at `level` leaves the cell (row, col) through side `to`;
/// kNoSegment if another tile's cell lies there.
template <class S>
__device__ __forceinline__ unsigned next_of_level(const LevelBatch<S>& batch, int row, int col, int to,
                                                  int level) {
  const int next_row = row + row_step(to), next_col = col + column_step(to);
  if (!has_cell(batch, next_row, next_col)) return kNoSegment;
  const CellLevels next = CellRanks(batch.shared, next_row, next_col).levels();
  const unsigned sub =
      next.is_saddle(level) ? saddle_segment_from(opposite(to), batch.group.connectivity()) : 0;
  return batch.shared.offset[next_row * kTileColumns + next_col] + static_cast<unsigned>(next.before(level)) +
         sub;
}

/// Lists and links the segments of the listed cells. Ends with a barrier.
template <class S>
__device__ __forceinline__ void link_batch(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < batch.segments; i += kBatchThreads) {
    const auto cell = static_cast<int>(s.segment[i]);
    const int row = cell / kTileColumns, col = cell % kTileColumns;
    const CellRanks ranks(s, row, col);
    const LevelSegment at = nth_segment(ranks.levels(), static_cast<int>(i) - s.offset[cell]);
    const auto sides = static_cast<int>(sides_of(ranks.code(at.level), at.sub, batch.group.connectivity()));
    const int from = sides & 3, to = sides >> 2;
    s.segment[i] = pack_segment(row, col, at.sub, sides) | static_cast<unsigned>(at.level) << 16;
    s.next[i] = static_cast<unsigned short>(next_of_level(batch, row, col, to, at.level));
    if (has_cell(batch, row + row_step(from), col + column_step(from))) continue;
    const unsigned leader = atomicAdd(&s.open, 1U);
    if (leader < kBatchPieces) s.leader[leader] = static_cast<unsigned short>(i);
  }
  __syncthreads();
}

}  // namespace contorno::contour_engine
