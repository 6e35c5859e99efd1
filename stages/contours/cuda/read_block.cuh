// The first step of a tile: reading its 65 x 33 samples and finding its cells. All later steps work on bits
// and read only the two samples of crossed edges again.
//
// In small maps a block works on a tile, with all loads of a thread in flight together. In large maps a warp
// works on a tile: each lane holds the bits of one row, and while the warp waits for memory others of the
// multiprocessor go on.
#pragma once

#include "stages/contours/cuda/bits.cuh"

namespace contorno::contour_engine {

inline constexpr int kBitsThreads = 256;
inline constexpr int kRowsAhead = 32;  ///< rows whose loads are in flight together

// A block a tile -----------------------------------------------------------------------------------------
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

/// Shared memory of make_bits: bits of the high samples and of the usable ones, and the greatest distance
/// from the level in each warp.
struct ReadShared {
  SampleBits high, valid;
  unsigned greatest[kBitsThreads / 32];
};

/// Whether all samples of a tile are usual together. Asked where not every sample is usual by itself, which
/// is the shorter test and fails for one crossed tile in 20. Called by whole blocks.
template <class T>
__device__ __forceinline__ bool are_usual_together(const LevelTest<T>& test, const TileSamples<T>& samples,
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
__device__ __forceinline__ void make_bits(const Job<P>& job, const TilePlace& place,
                                          const TileSamples<T>& samples, TileBits& bits, ReadShared& s) {
  const LevelTest<T> test(job, place.plane);
  bool usual = samples.used == ~0U;
#pragma unroll
  for (int k = 0; k <= TileSamples<T>::kExtra; ++k) usual = usual && test.is_usual(samples.value[k]);
  make_rows<T>([&](int k) { return test.is_high(samples.value[k]); }, s.high);
  const bool unusual = __syncthreads_or(usual ? 0 : 1) != 0 && !are_usual_together(test, samples, s);
  if (unusual) {
    make_rows<T>([&](int k) { return samples.value[k] == samples.value[k] && (samples.used >> k & 1) != 0; },
                 s.valid);
    __syncthreads();
  }
  if (threadIdx.x < kTileRows) {
    const int row = static_cast<int>(threadIdx.x);
    auto cells = find_cells(s.high.row(row), s.high.row(row + 1), place, row, job.connectivity());
    if (unusual) leave_out(cells, s.valid.row(row), s.valid.row(row + 1));
    store_cells(bits, row, cells);
  }
  if (threadIdx.x == 0) bits.unusual = unusual ? 1 : 0;
  __syncthreads();
}

// A warp a tile ------------------------------------------------------------------------------------------
/// The columns of samples that a lane reads, and the last row of the map. For samples beyond the map the last
/// one inside is read; cells with such samples are not used.
struct LaneSamples {
  int lane, bottom;
  int column[3];  ///< this lane's in the left and the right half, and column 64
  template <class P>
  __device__ __forceinline__ LaneSamples(const Job<P>& job, const TilePlace& place)
      : lane(static_cast<int>(threadIdx.x) % 32),
        bottom(job.map.height - 1),
        column{min(place.col0 + lane, job.map.width - 1), min(place.col0 + 32 + lane, job.map.width - 1),
               min(place.col0 + kTileColumns, job.map.width - 1)} {}
};

/// Transposes the matrix of 32 x 32 bits that has a column in each lane (in lane c, bit r is row r):
/// afterwards each lane has a row.
__device__ __forceinline__ unsigned transpose(unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  unsigned low = 0x0000FFFFU;
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) {
    const unsigned other = __shfl_xor_sync(~0U, word, static_cast<int>(step));
    const bool upper = (lane & step) != 0;
    const unsigned keep = upper ? ~low : low;
    const unsigned moved = upper ? other >> step : other << step;
    word = (word & keep) | (moved & ~keep);
    low ^= low << (step / 2);
  }
  return word;
}

/// The bits of a tile's samples: the row of this lane, and row 32.
struct TileRows {
  RowWord row, last_row;
  bool usual;  ///< no crossing can fall on a sample, so links follow edges
  bool right;  ///< `row` and `last_row` are valid: all samples are finite
};

/// The fast way, of a few instructions a sample: the bit of a sample is the sign of threshold - v, and the
/// least and greatest distance tell whether all samples are usual.
template <class T, class P>
__device__ __forceinline__ TileRows read_rows(const Job<P>& job, const TilePlace& place,
                                              const LevelTest<T>& test) {
  using Value = typename Sample<T>::Value;
  const Map& map = job.map;
  const LaneSamples at(job, place);
  const unsigned char* const plane = map.data + place.plane * map.plane_pitch;
  const long long left = at.column[0] * map.sample_pitch;
  const long long right = at.column[1] * map.sample_pitch;
  const long long last = at.column[2] * map.sample_pitch;
  // Column 64 and row 32 first; their values are used last.
  const unsigned char* line = plane + min(place.row0 + kTileRows, at.bottom) * map.row_pitch;
  const Value extra[4] = {
      Sample<T>::read(plane + min(place.row0 + at.lane, at.bottom) * map.row_pitch + last),
      Sample<T>::read(line + left), Sample<T>::read(line + right), Sample<T>::read(line + last)};
  Value least = test.greatest_usual();
  Value greatest = 0;
  const auto look = [&](Value v) {
    const Value below = test.threshold - v;
    const Value distance = test.distance(v);
    least = fmin(least, distance);
    greatest = greater_or_nan(greatest, distance);
    return is_negative(below);
  };
  unsigned columns[2] = {0, 0};
  // From the last row to the first, so that the bit of row 0 comes to stand lowest.
  const unsigned char* left_line = line + left;
  const unsigned char* right_line = line + right;
  const int rows_here = at.bottom - place.row0;
#pragma unroll 1
  for (int first = kTileRows - kRowsAhead; first >= 0; first -= kRowsAhead) {
    Value value[kRowsAhead][2];
#pragma unroll
    for (int k = kRowsAhead - 1; k >= 0; --k) {
      const long long up = first + k < rows_here ? map.row_pitch : 0;
      left_line -= up;
      right_line -= up;
      value[k][0] = Sample<T>::read(left_line);
      value[k][1] = Sample<T>::read(right_line);
    }
#pragma unroll
    for (int k = kRowsAhead - 1; k >= 0; --k) {
      columns[0] = columns[0] << 1 | look(value[k][0]);
      columns[1] = columns[1] << 1 | look(value[k][1]);
    }
  }
  TileRows rows;
  rows.row = {transpose(columns[0]) | static_cast<unsigned long long>(transpose(columns[1])) << 32,
              look(extra[0])};
  const unsigned low = __ballot_sync(~0U, look(extra[1]) != 0);
  const unsigned high = __ballot_sync(~0U, look(extra[2]) != 0);
  rows.last_row = {low | static_cast<unsigned long long>(high) << 32, look(extra[3])};
  const unsigned most = highest_of_warp(float_bits_above(greatest));
  rows.right = test.are_finite(most);
  rows.usual = __any_sync(~0U, rows.right && test.are_usual(least, most) ? 0 : 1) == 0;
  return rows;
}

/// The rare way, for tiles with samples that are not finite or masked: compares each sample, and finds which
/// are usable (not NaN, not masked). Small rather than fast.
template <class T, class P>
__device__ __noinline__ void read_unusual(const Job<P>& job, const TilePlace& place, TileRows& high,
                                          TileRows& valid) {
  using Value = typename Sample<T>::Value;
  constexpr int kRows = 4;
  const LevelTest<T> test(job, place.plane);
  const LaneSamples at(job, place);
#pragma unroll 1
  for (int first = 0; first <= kTileRows; first += kRows) {
    Value value[kRows][3];
#pragma unroll
    for (int k = 0; k < kRows; ++k)
#pragma unroll
      for (int c = 0; c < 3; ++c)
        value[k][c] =
            read_sample<T>(job.map, place.plane, min(place.row0 + first + k, at.bottom), at.column[c]);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      unsigned is_high[3];
      unsigned is_valid[3];
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const Value v = value[k][c];
        const int row = min(place.row0 + first + k, at.bottom);
        is_high[c] = __ballot_sync(~0U, test.is_high(v));
        is_valid[c] = __ballot_sync(~0U, v == v && !is_masked(job.map, row, at.column[c]));
      }
      const RowWord high_row{is_high[0] | static_cast<unsigned long long>(is_high[1]) << 32, is_high[2] & 1};
      const RowWord valid_row{is_valid[0] | static_cast<unsigned long long>(is_valid[1]) << 32,
                              is_valid[2] & 1};
      if (at.lane == first + k) high.row = high_row, valid.row = valid_row;
      if (first + k == kTileRows) high.last_row = high_row, valid.last_row = valid_row;
    }
  }
}

/// Whether no sample of the tile is masked. Called by whole warps.
template <class P>
__device__ __noinline__ bool is_unmasked(const Job<P>& job, const TilePlace& place) {
  const LaneSamples at(job, place);
  bool masked = false;
  for (int row = 0; row <= kTileRows; ++row)
#pragma unroll
    for (int c = 0; c < 3; ++c)
      masked = masked || is_masked(job.map, min(place.row0 + row, at.bottom), at.column[c]);
  return __any_sync(~0U, masked ? 1 : 0) == 0;
}

/// The row of samples below the one of this lane.
__device__ __forceinline__ RowWord row_below(const RowWord& row, const RowWord& last_row) {
  const unsigned long long word = __shfl_down_sync(~0U, row.word, 1);
  const unsigned last = __shfl_down_sync(~0U, row.last, 1);
  return threadIdx.x % 32 == 31 ? last_row : RowWord{word, last};
}

/// Finds the cells of a tile. Called by one warp, and ends with a barrier of that warp. False: no cell is
/// crossed.
template <class T, class P>
__device__ __forceinline__ bool read_tile(const Job<P>& job, const TilePlace& place, TileBits& bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  TileRows rows = read_rows<T>(job, place, LevelTest<T>(job, place.plane));
  if (job.map.mask != nullptr && !is_unmasked(job, place)) rows.usual = rows.right = false;
  RowCells cells;
  if (rows.right) {
    cells = find_cells(rows.row, row_below(rows.row, rows.last_row), place, lane, job.connectivity());
  } else {
    TileRows high;
    TileRows valid;
    read_unusual<T>(job, place, high, valid);
    cells = find_cells(high.row, row_below(high.row, high.last_row), place, lane, job.connectivity());
    leave_out(cells, valid.row, row_below(valid.row, valid.last_row));
  }
  if (__any_sync(~0U, cells.crossed != 0 ? 1 : 0) == 0) return false;
  store_cells(bits, lane, cells);
  if (lane == 0) bits.unusual = rows.usual ? 0 : 1;
  __syncwarp();
  return true;
}

}  // namespace contorno::contour_engine
