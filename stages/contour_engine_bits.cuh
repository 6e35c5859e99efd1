// The first step of a tile: its samples become bits. Each sample of the map is read once here (65 x 33 a
// tile), with all loads of a thread in flight together; everything later works on bits and reads again only
// the samples of crossed edges.
#pragma once

#include "stages/contour_engine_nodes.cuh"

namespace contorno::contour_engine {

inline constexpr int kBitsThreads = 256;

/// Where a tile lies.
struct TilePlace {
  int tile, plane, row0, col0, rows, columns;  ///< rows and columns of cells
};

template <class P>
__device__ __forceinline__ TilePlace place_of_tile(const Job<P>& job, int tile) {
  TilePlace place;
  place.tile = tile;
  const int rows = static_cast<int>(job.by_tiles_x.quotient(static_cast<unsigned>(tile)));
  place.plane = static_cast<int>(job.by_tiles_y.quotient(static_cast<unsigned>(rows)));
  place.row0 = (rows - place.plane * job.tiles_y) * kTileRows;
  place.col0 = (tile - rows * job.tiles_x) * kTileColumns;
  place.rows = min(kTileRows, job.cell_rows - place.row0);
  place.columns = min(kTileColumns, job.cell_columns - place.col0);
  return place;
}

/// The tile of a block. Interleaved classes lie side by side: their tiles run together, so that lines are
/// fetched once.
template <class P>
__device__ __forceinline__ TilePlace place_of_block(const Job<P>& job, int block) {
  const bool interleaved = job.map.plane_pitch < job.map.row_pitch;
  return place_of_tile(
      job, interleaved ? block % job.planes * (job.tiles_x * job.tiles_y) + block / job.planes : block);
}

/// The cells of a tile, a word a row.
struct TileBits {
  unsigned long long high[kTileRows + 1];  ///< samples above the level, columns 0..63
  unsigned long long crossed[kTileRows], saddle[kTileRows];
  unsigned high_last[kTileRows + 1];  ///< column 64
  unsigned unusual;                   ///< links must be found from exact points
};

struct BitsShared {
  unsigned long long valid[kTileRows + 1];
  unsigned valid_last[kTileRows + 1];
};

/// The samples of a tile that one thread looks at: four rows of its warp, columns lane and lane + 32; warps 0
/// and 1 also have row 32, warp 2 column 64, warp 3 their corner.
template <class T>
struct TileSamples {
  using Value = typename Sample<T>::Value;
  static constexpr int kRows = kTileRows / (kBitsThreads / 32);
  static constexpr int kExtra = 2 * kRows;
  Value value[2 * kRows + 1];
  unsigned used;  ///< bit k: value k is not masked

  /// Only asks for them: the loads of a thread are in flight together. Samples beyond the map are replaced by
  /// the last one; what becomes of them is not used.
  template <class P>
  __device__ __forceinline__ void load(const Job<P>& job, const TilePlace& place) {
    const Map& map = job.map;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int last_row = map.height - 1;
    const int last_col = map.width - 1;
    const int col[2] = {min(place.col0 + lane, last_col), min(place.col0 + 32 + lane, last_col)};
    const int first_row = place.row0 + warp * kRows;
    const unsigned char* const plane = map.data + place.plane * map.plane_pitch;
    const unsigned char* line = plane + min(first_row, last_row) * map.row_pitch;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      value[2 * k] = Sample<T>::read(line + col[0] * map.sample_pitch);
      value[2 * k + 1] = Sample<T>::read(line + col[1] * map.sample_pitch);
      if (first_row + k < last_row) line += map.row_pitch;
    }
    const int extra_row = min(place.row0 + (warp == 2 ? lane : kTileRows), last_row);
    const int extra_col = warp < 2 ? col[warp] : min(place.col0 + kTileColumns, last_col);
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

/// Calls `store` with a bit a sample: one word a row (lane 0), one a sample of column 64.
template <class T, class Test>
__device__ __forceinline__ void make_rows(const Test& test, unsigned long long* rows, unsigned* last) {
  constexpr int kRows = TileSamples<T>::kRows;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const unsigned left = __ballot_sync(~0U, test(2 * k));
    const unsigned right = __ballot_sync(~0U, test(2 * k + 1));
    if (lane == 0) rows[warp * kRows + k] = left | static_cast<unsigned long long>(right) << 32;
  }
  const bool extra = test(TileSamples<T>::kExtra);
  const unsigned word = __ballot_sync(~0U, extra);
  if (warp < 2 && lane == 0) reinterpret_cast<unsigned*>(&rows[kTileRows])[warp] = word;
  if (warp == 2) last[lane] = extra ? 1 : 0;
  if (warp == 3 && lane == 0) last[kTileRows] = extra ? 1 : 0;
}

/// How samples are compared with the level of a plane.
template <class T>
struct LevelTest {
  using Value = typename Sample<T>::Value;
  Value threshold, centre, near, large;
  template <class P>
  __device__ __forceinline__ LevelTest(const Job<P>& job, int plane) {
    const double level = job.level[plane % job.levels];
    threshold = Sample<T>::kInteger ? static_cast<Value>(job.highest_low[plane % job.levels])
                                    : threshold_of(level, Value{});
    centre = static_cast<Value>(Sample<T>::kInteger ? level * job.map.divisor : level);
    // A crossing can only fall on a sample if |level - a| < 2^-36 |b - a| (rows and columns are below 2^16).
    // With all |sample - level| below 2^15 m that needs |level - a| < 2^-20 m.
    const Value magnitude = fmax(fabs(centre), Value{1});
    near = magnitude * static_cast<Value>(0x1p-18);
    large = magnitude * static_cast<Value>(0x1p15);
  }
  __device__ __forceinline__ bool is_high(Value v) const { return v > threshold; }
  /// Finite, and far enough from the level. False for NaN.
  __device__ __forceinline__ bool is_usual(Value v) const {
    const Value distance = fabs(v - centre);
    return distance > near && distance < large;
  }
};

/// Fills bits.high and, if unusual, s.valid. A tile is unusual if any of its samples is not finite, masked,
/// or so close to the level that a crossing could fall exactly on it. Ends with a barrier.
template <class T, class P>
__device__ __forceinline__ bool make_bits(const Job<P>& job, const TilePlace& place,
                                          const TileSamples<T>& samples, TileBits& bits, BitsShared& s) {
  const LevelTest<T> test(job, place.plane);
  bool usual = samples.used == ~0U;
#pragma unroll
  for (int k = 0; k <= TileSamples<T>::kExtra; ++k) usual = usual && test.is_usual(samples.value[k]);
  make_rows<T>([&](int k) { return test.is_high(samples.value[k]); }, bits.high, bits.high_last);
  const bool unusual = __syncthreads_or(usual ? 0 : 1) != 0;
  if (unusual) {
    make_rows<T>([&](int k) { return samples.value[k] == samples.value[k] && (samples.used >> k & 1) != 0; },
                 s.valid, s.valid_last);
    __syncthreads();
  }
  return unusual;
}

/// A row of samples: columns 0..63, and 64.
struct RowWord {
  unsigned long long word;
  unsigned last;
  __device__ __forceinline__ unsigned long long right() const {
    return word >> 1 | static_cast<unsigned long long>(last) << 63;
  }
};

/// Crossed cells and saddles between two rows of samples.
__device__ __forceinline__ void find_cells(const RowWord& upper, const RowWord& lower, int columns,
                                           unsigned long long& crossed, unsigned long long& saddle) {
  const unsigned long long ul = upper.word;
  const unsigned long long ur = upper.right();
  const unsigned long long ll = lower.word;
  const unsigned long long lr = lower.right();
  crossed = ((ul | ur | ll | lr) & ~(ul & ur & ll & lr)) & (~0ULL >> (64 - columns));
  saddle = (ul ^ ur) & (ll ^ lr) & (ul ^ ll);
}

/// Crossed cells and saddles of row `threadIdx.x`, by the first warp.
__device__ __forceinline__ void find_crossed_row(const TilePlace& place, bool unusual, TileBits& bits,
                                                 const BitsShared& s) {
  const int row = static_cast<int>(threadIdx.x);
  unsigned long long crossed = 0;
  unsigned long long saddle = 0;
  if (row < place.rows) {
    find_cells({bits.high[row], bits.high_last[row]}, {bits.high[row + 1], bits.high_last[row + 1]},
               place.columns, crossed, saddle);
    if (unusual) {
      const RowWord upper{s.valid[row], s.valid_last[row]};
      const RowWord lower{s.valid[row + 1], s.valid_last[row + 1]};
      crossed &= upper.word & upper.right() & lower.word & lower.right();
    }
  }
  bits.crossed[row] = crossed;
  bits.saddle[row] = saddle & crossed;
}

}  // namespace contorno::contour_engine
