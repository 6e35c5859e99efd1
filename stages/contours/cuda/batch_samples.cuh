// Steps 1 and 2 of a batch of levels, read and rank.
//
//   Reads   the tile's 65 x 33 samples; the batch's levels
//   Writes  sample, rank: how many of the levels a sample is above
//
// With levels in ascending order a sample is above the first `rank` of them and no others. So the ranks of an
// edge's two samples tell which levels cross the edge.
// Each sample is compared with the levels next to it; only if it is too near to one, as far as floats tell,
// is it compared with every level (find_unusual).
#pragma once

#include "stages/contours/cuda/level_batch.cuh"

namespace contorno::contour_engine {

/// The samples of a tile that one thread reads: of its warp's rows the columns `lane` and `lane + 32`, and
/// some of the lowest row and the column on the right.
template <class T>
struct BatchSamples {
  using Value = typename Sample<T>::Value;
  static constexpr int kRows = kTileRows / kBatchWarps;
  static constexpr int kBorder = kTileColumns + kTileRows + 1;  ///< samples of that row and column
  static constexpr int kExtra = 2 * kRows;                      ///< index of the first of these
  static constexpr int kCount = kExtra + (kBorder + kBatchThreads - 1) / kBatchThreads;
  static_assert(kCount <= 32);
  Value value[kCount];
  bool all_used;  ///< none is masked

  /// Row and column of a value.
  static __device__ __forceinline__ int row_of(int k) {
    if (k < kExtra) return static_cast<int>(threadIdx.x) / 32 * kRows + k / 2;
    return border_of(k) < kTileColumns ? kTileRows : border_of(k) - kTileColumns;
  }
  static __device__ __forceinline__ int column_of(int k) {
    if (k < kExtra) return static_cast<int>(threadIdx.x) % 32 + k % 2 * 32;
    return min(border_of(k), kTileColumns);
  }

  /// Starts all loads of the thread, so that they are in flight together. For samples beyond the map the last
  /// one inside is read; cells with such samples are not used.
  template <class P>
  __device__ __forceinline__ void load(const PlaneGroup<P>& group, const TileBounds& bounds) {
    const Map& map = group.map;
    const unsigned char* const plane = map.data + bounds.channel * map.plane_pitch;
    const int last_row = map.height - 1;
    const auto row = [&](int k) { return min(bounds.row0 + row_of(k), last_row); };
    const auto column = [&](int k) { return min(bounds.col0 + column_of(k), map.width - 1); };
    const unsigned char* left = plane + row(0) * map.row_pitch + column(0) * map.sample_pitch;
    const unsigned char* right = plane + row(1) * map.row_pitch + column(1) * map.sample_pitch;
#pragma unroll
    for (int k = 0; k < kExtra; k += 2) {
      value[k] = Sample<T>::read(left);
      value[k + 1] = Sample<T>::read(right);
      const long long down = bounds.row0 + row_of(k) < last_row ? map.row_pitch : 0;
      left += down, right += down;
    }
#pragma unroll
    for (int k = kExtra; k < kCount; ++k)
      value[k] = Sample<T>::read(plane + row(k) * map.row_pitch + column(k) * map.sample_pitch);
    all_used = true;
    if (map.mask == nullptr) return;
#pragma unroll 1
    for (int k = 0; k < kCount; ++k) all_used = all_used && !is_masked(map, row(k), column(k));
  }

 private:
  static __device__ __forceinline__ int border_of(int k) {
    return min(static_cast<int>(threadIdx.x) + (k - kExtra) * kBatchThreads, kBorder - 1);
  }
};

/// Writes the samples and their ranks. Returns a bit for each sample beside which a level may be unusual.
template <class T, class P>
__device__ __forceinline__ unsigned rank_samples(BatchShared<T, P>& s, const BatchSamples<T>& samples) {
  using Value = typename Sample<T>::Value;
  constexpr int kCount = BatchSamples<T>::kCount;
  const auto at = [](const Value* values, unsigned bytes, int further) {
    return *reinterpret_cast<const Value*>(reinterpret_cast<const char*>(values + further) + bytes);
  };
  constexpr auto kOne = static_cast<unsigned>(sizeof(Value));
  unsigned rank[kCount] = {};  // in bytes of thresholds, so that they are addresses
#pragma unroll
  for (int step = (kBatchLevels + 1) / 2; step > 0; step /= 2) {
    if (step > static_cast<int>(s.levels)) continue;
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      if (samples.value[k] > at(s.threshold, rank[k], step)) rank[k] += static_cast<unsigned>(step) * kOne;
  }
  const Value* const centres = s.centres();
  unsigned near = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const auto v = samples.value[k];
    const bool usual = fmin(v - at(centres, rank[k], 0), at(centres, rank[k], 1) - v) > s.usual_above;
    near |= usual ? 0 : 1U << k;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const int row = BatchSamples<T>::row_of(k), column = BatchSamples<T>::column_of(k);
    s.sample[row * kRankPitch + column] = samples.value[k];
    const unsigned own = rank[k] / kOne;
    unsigned char* const to = &s.rank[row * kRankPitch + column];
    // Beyond the last column the same once more, so that nothing crosses the edge to it.
    if (k >= BatchSamples<T>::kExtra && column == kTileColumns)
      *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(own * 0x101);
    else
      *to = static_cast<unsigned char>(own);
  }
  return near;
}

/// Whether a level is usual beside a sample. Floats are compared with the level itself, not with what it is
/// rounded to: among hundreds of levels that would be too near to a sample of every other tile.
template <class S>
__device__ __forceinline__ bool is_usual_at(const LevelBatch<S>& batch, typename S::Value v, unsigned level) {
  const auto& s = batch.shared;
  if constexpr (Sample<typename S::Element>::kInteger) return fabs(s.centre[level + 1] - v) > s.usual_above;
  const double at = s.level[level];
  const double above = fmax(batch.levels->range.high - at, at - batch.levels->range.low) * kLeastOfGreatest;
  return fabs(at - static_cast<double>(v)) > above;
}

/// Finds the unusual levels, as bits: beside which of this thread's samples there may be some, `near` says.
/// This code runs seldom. The batch is copied, so that the caller's stays in registers.
template <class S>
__device__ __noinline__ unsigned find_unusual(const LevelBatch<S> batch, unsigned near, bool all_used) {
  using Samples = BatchSamples<typename S::Element>;
  auto& s = batch.shared;
  unsigned bits = all_used ? 0 : ~0U;
#pragma unroll 1
  for (; near != 0; near &= near - 1) {
    const int k = __ffs(static_cast<int>(near)) - 1;
    const auto v = s.sample[Samples::row_of(k) * kRankPitch + Samples::column_of(k)];
#pragma unroll 1
    for (unsigned level = 0; level < s.levels; ++level)
      bits |= (is_usual_at(batch, v, level) ? 0U : 1U) << level;
  }
  if (bits != 0) atomicOr(&s.unusual, bits);
  __syncthreads();
  bits = s.unusual;
  __syncthreads();
  return bits;
}

/// Loads a batch and ranks the samples. Returns the levels that are left out, as bits. Ends with a barrier,
/// and begins with one after which the threads share what is of this batch.
template <class S>
__device__ __forceinline__ unsigned read_batch(const LevelBatch<S>& batch, unsigned first, unsigned count) {
#pragma unroll 1
  for (unsigned skip = 0;;) {
    BatchSamples<typename S::Element> samples;
    samples.load(batch.group, batch.bounds);
    LoadedLevel<S> level;
    if (batch.thread < 32) level.load(batch, first, count);
    __syncthreads();
    if (batch.thread < 32) share_levels(batch, level, count, skip);
    __syncthreads();
    const unsigned near = rank_samples(batch.shared, samples);
    const bool unusual = near != 0 || !samples.all_used || batch.shared.unusual != 0;
    // Without the unusual levels no sample is nearer to one than before, so there is no third round.
    if (__syncthreads_or(unusual ? 1 : 0) == 0 || skip != 0) return skip;
    skip = find_unusual<S>(batch, near, samples.all_used);
    if (skip == 0) return 0;
  }
}

}  // namespace contorno::contour_engine
