// Step 1 of a tile, read, by a block: small maps, where all tiles are read at the same time.
//
//   Reads   the tile's 65 x 33 samples, once
//   Writes  a bit a sample in shared memory, and from them the cells (cells.cuh)
//
// A thread reads eight samples and one more, with all its loads in flight together; a vote of the warp makes
// their comparisons a word of bits.
#pragma once

#include "stages/contours/cuda/cells.cuh"
#include "stages/contours/cuda/level.cuh"

namespace contorno::contour_engine {

inline constexpr int kBitsThreads = 256;

/// A bit for each sample of a tile.
struct SampleBits {
  unsigned long long rows[kTileRows + 1];  ///< columns 0..63
  unsigned last[kTileRows + 1];            ///< column 64
  __device__ __forceinline__ RowWord row(int r) const { return {rows[r], last[r]}; }
};

/// The samples of a tile that one thread reads: of its warp's four rows the columns `lane` and `lane + 32`,
/// and one more: in warps 0 and 1 of row 32, in warp 2 of column 64, in warp 3 the sample where these two
/// meet.
template <class T>
struct TileSamples {
  using Value = typename Sample<T>::Value;
  static constexpr int kRows = kTileRows / (kBitsThreads / 32);
  static constexpr int kExtra = 2 * kRows;
  Value value[2 * kRows + 1];
  unsigned used;  ///< bit k: value k is not masked

  /// Starts all loads of the thread, so that they are in flight together. For samples beyond the map the last
  /// one inside is read; cells with such samples are not used.
  template <class P>
  __device__ __forceinline__ void load(const PlaneGroup<P>& group, const TileBounds& bounds) {
    const Map& map = group.map;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int last_row = map.height - 1;
    const int last_col = map.width - 1;
    const int col[2] = {min(bounds.col0 + lane, last_col), min(bounds.col0 + 32 + lane, last_col)};
    const int first_row = bounds.row0 + warp * kRows;
    const unsigned char* const plane = map.data + bounds.channel * map.plane_pitch;
    const unsigned char* line = plane + min(first_row, last_row) * map.row_pitch;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      value[2 * k] = Sample<T>::read(line + col[0] * map.sample_pitch);
      value[2 * k + 1] = Sample<T>::read(line + col[1] * map.sample_pitch);
      if (first_row + k < last_row) line += map.row_pitch;
    }
    const int extra_row = min(bounds.row0 + (warp == 2 ? lane : kTileRows), last_row);
    const int extra_col = warp < 2 ? col[warp] : min(bounds.col0 + kTileColumns, last_col);
    value[kExtra] = value[0];
    if (warp < 4)
      value[kExtra] = Sample<T>::read(plane + extra_row * map.row_pitch + extra_col * map.sample_pitch);
    used = ~0U;
    if (map.mask == nullptr) return;
    for (int k = 0; k < 2 * kRows; ++k)
      if (is_masked(map, min(first_row + k / 2, last_row), col[k % 2])) used &= ~(1U << k);
    if (is_masked(map, extra_row, extra_col)) used &= ~(1U << kExtra);
  }
};

/// Fills `bits` with test(k) for sample k of each thread (as TileSamples numbers them). Called by whole
/// blocks.
template <class T, class Test>
__device__ __forceinline__ void make_rows(const Test& test, SampleBits& bits) {
  constexpr int kRows = TileSamples<T>::kRows;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const unsigned left = __ballot_sync(~0U, test(2 * k));
    const unsigned right = __ballot_sync(~0U, test(2 * k + 1));
    if (lane == 0) bits.rows[warp * kRows + k] = left | static_cast<unsigned long long>(right) << 32;
  }
  const bool extra = test(TileSamples<T>::kExtra);
  const unsigned word = __ballot_sync(~0U, extra);
  if (warp < 2 && lane == 0) reinterpret_cast<unsigned*>(&bits.rows[kTileRows])[warp] = word;
  if (warp == 2) bits.last[lane] = extra ? 1 : 0;
  if (warp == 3 && lane == 0) bits.last[kTileRows] = extra ? 1 : 0;
}

/// Shared memory of read_by_block: bits of the high samples and of the usable ones, and the greatest distance
/// from the level in each warp.
struct ReadShared {
  SampleBits high, valid;
  unsigned greatest[kBitsThreads / 32];
};

/// Whether all samples of a tile are usual. Called by whole blocks.
template <class T>
__device__ __forceinline__ bool are_usual(const LevelTest<T>& test, const TileSamples<T>& samples,
                                          ReadShared& s) {
  using Value = typename Sample<T>::Value;
  Value least = test.greatest_usual();
  Value greatest = 0;
#pragma unroll
  for (int k = 0; k <= TileSamples<T>::kExtra; ++k) {
    const Value distance = test.distance(samples.value[k]);
    least = fmin(least, distance);
    greatest = greater_or_nan(greatest, distance);
  }
  unsigned most = highest_of_warp(float_bits_above(greatest));
  if (threadIdx.x % 32 == 0) s.greatest[threadIdx.x / 32] = most;
  __syncthreads();
#pragma unroll
  for (const unsigned other : s.greatest) most = max(most, other);
  const bool usual = samples.used == ~0U && test.are_finite(most) && test.are_usual(least, most);
  return __syncthreads_or(usual ? 0 : 1) == 0;
}

/// Finds the cells of a tile, and whether it is unusual: whether a sample is not finite, is masked, or is so
/// near to the level that a crossing may fall on it. Called by whole blocks; ends with a barrier.
template <class T, class P>
__device__ __forceinline__ void read_by_block(const PlaneGroup<P>& group, const TileBounds& bounds,
                                              TileBits& bits, ReadShared& s) {
  TileSamples<T> samples;
  samples.load(group, bounds);
  const LevelTest<T> test(group, bounds.plane);
  make_rows<T>([&](int k) { return test.is_high(samples.value[k]); }, s.high);
  const bool unusual = !are_usual(test, samples, s);
  if (unusual) {
    make_rows<T>([&](int k) { return samples.value[k] == samples.value[k] && (samples.used >> k & 1) != 0; },
                 s.valid);
    __syncthreads();
  }
  if (threadIdx.x < kTileRows) {
    const int row = static_cast<int>(threadIdx.x);
    auto cells = find_cells(s.high.row(row), s.high.row(row + 1), bounds, row, group.connectivity());
    if (unusual) leave_out(cells, s.valid.row(row), s.valid.row(row + 1));
    store_cells(bits, row, cells);
  }
  if (threadIdx.x == 0) bits.unusual = unusual ? 1 : 0;
  __syncthreads();
}

}  // namespace contorno::contour_engine
