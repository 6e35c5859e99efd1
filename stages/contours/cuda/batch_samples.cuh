// Step 1 of a batch of levels, read: samples, and in which interval each lies.
//
//   Reads   the tile's 65 x 33 samples; the batch's levels
//   Writes  sample, interval
//
// With levels in ascending order a sample is above the first `interval` of them and no others. So the
// intervals of an edge's two samples tell which levels cross the edge.
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

  /// Starts all loads of the thread, so that they are in flight together. Samples beyond the
  /// map repeat the last one inside. On the right the next steps rely on it: no level crosses an edge between
  /// equal samples. Rows below are not counted.
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

/// Guesses the intervals of a thread's samples. Returns whether all are right, and the samples finite: levels
/// are evenly spaced as a rule.
template <class T, class P>
__device__ __forceinline__ bool guess_intervals(const BatchShared<T, P>& s, const BatchSamples<T>& samples,
                                                unsigned (&interval)[BatchSamples<T>::kCount]) {
  const IntervalGuess guess = s.guess;
  const unsigned levels = s.levels;
  bool right = true;
#pragma unroll
  for (int k = 0; k < BatchSamples<T>::kCount; ++k) {
    interval[k] = guess.of(static_cast<float>(samples.value[k]), levels);
    const auto bounds = s.interval_bounds[interval[k]];
    right = right && samples.value[k] > bounds.low && samples.value[k] <= bounds.high;
  }
  return right;
}

/// Finds the intervals of a thread's samples by halving. Returns whether the samples are finite.
template <class T, class P>
__device__ __forceinline__ bool search_intervals(const BatchShared<T, P>& s, const BatchSamples<T>& samples,
                                                 unsigned (&interval)[BatchSamples<T>::kCount]) {
  using Value = typename Sample<T>::Value;
  constexpr int kCount = BatchSamples<T>::kCount;
  constexpr auto kOne = static_cast<unsigned>(sizeof(IntervalBounds<Value>));
  const auto threshold_at = [&](unsigned bytes, int further) {
    return *reinterpret_cast<const Value*>(reinterpret_cast<const char*>(&s.interval_bounds[further].high) +
                                           bytes);
  };
  // In bytes of bounds, so that they are addresses.
#pragma unroll
  for (int k = 0; k < kCount; ++k) interval[k] = 0;
#pragma unroll
  for (int step = (kBatchLevels + 1) / 2; step > 0; step /= 2) {
    if (step > static_cast<int>(s.levels)) continue;
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      if (samples.value[k] > threshold_at(interval[k], step - 1))
        interval[k] += static_cast<unsigned>(step) * kOne;
  }
  Value nothing = 0;  // but NaN if a sample is not finite
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    interval[k] /= kOne;
    if constexpr (Sample<T>::kMayBeNan)
      nothing = static_cast<Value>(fma(samples.value[k], Value{0}, nothing));
  }
  return nothing == 0;
}

/// Writes the samples and their intervals. Returns whether the thread's samples are all finite and used.
template <class T, class P>
__device__ __forceinline__ bool find_intervals(BatchShared<T, P>& s, const BatchSamples<T>& samples) {
  constexpr unsigned kFewLevels = 3;  // two halvings are as short as a guess
  constexpr int kCount = BatchSamples<T>::kCount;
  unsigned interval[kCount];
  const bool are_finite = (s.levels > kFewLevels && guess_intervals(s, samples, interval)) ||
                          search_intervals(s, samples, interval);
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const int row = BatchSamples<T>::row_of(k), column = BatchSamples<T>::column_of(k);
    s.sample[row * kPitch + column] = samples.value[k];
    unsigned char* const to = &s.interval[row * kPitch + column];
    // Beyond the last column the same once more, so that nothing crosses the edge to it. (In narrower tiles
    // `load` has done so.)
    if (k >= BatchSamples<T>::kExtra && column == kTileColumns)
      *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(interval[k] * 0x101);
    else
      *to = static_cast<unsigned char>(interval[k]);
  }
  return samples.all_used && are_finite;
}

/// Loads a batch and finds the samples' intervals. False: some are not finite or not used. Ends with a
/// barrier, and begins with one after which the threads share what is of this batch.
template <class S>
__device__ __forceinline__ bool read_batch(const LevelBatch<S>& batch, unsigned first, unsigned count,
                                           unsigned skip) {
  BatchSamples<typename S::Element> samples;
  samples.load(batch.group, batch.bounds);
  LoadedLevels<S> levels{};
  if (batch.thread < 32) levels.load(batch, first, count, skip);
  __syncthreads();
  if (batch.thread < 32) share_levels(batch, levels, count);
  __syncthreads();
  const bool usable = find_intervals(batch.shared, samples);
  return __syncthreads_or(usable ? 0 : 1) == 0;
}

}  // namespace contorno::contour_engine
