// find_crossed: the first kernel of large maps.
//
// For large maps the reading is a kernel of its own, which leaves the bits of the tiles that are crossed at
// all. A warp takes a whole tile, a lane holds the words of a row, and nothing waits for anything but memory.
// 4 bytes a sample read (float32), 0.9 KiB a crossed tile written.
//
// Reads   every sample (1.05 times)
// Writes  tile_bits and crossed_tiles; tile_pieces of tiles without segments
#pragma once

#include "stages/contour_engine_bits.cuh"

namespace contorno::contour_engine {

inline constexpr int kFindThreads = 256;
inline constexpr int kFindRows = 8;  ///< rows whose loads are in flight together

/// Reads the rows and keeps, in lane r, what `test` says of row r (`last_row`: of row 32, in all lanes).
template <class T, class P, class Test>
__device__ __forceinline__ void read_rows(const Job<P>& job, const TilePlace& place, const Test& test,
                                          RowWord& row, RowWord& last_row) {
  using Value = typename Sample<T>::Value;
  const Map& map = job.map;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int bottom = map.height - 1;
  const int col0 = min(place.col0 + lane, map.width - 1);
  const int col1 = min(place.col0 + 32 + lane, map.width - 1);
  const int col2 = min(place.col0 + kTileColumns, map.width - 1);
  const unsigned char* const plane = map.data + place.plane * map.plane_pitch;
  // Column 64 and row 32 first; their values are used last.
  const int row_here = min(place.row0 + lane, bottom);
  const int row_32 = min(place.row0 + kTileRows, bottom);
  const unsigned char* line = plane + row_32 * map.row_pitch;
  const Value last[4] = {Sample<T>::read(plane + row_here * map.row_pitch + col2 * map.sample_pitch),
                         Sample<T>::read(line + col0 * map.sample_pitch),
                         Sample<T>::read(line + col1 * map.sample_pitch),
                         Sample<T>::read(line + col2 * map.sample_pitch)};
  line = plane + place.row0 * map.row_pitch;
  row.word = 0;
#pragma unroll 1
  for (int first = 0; first < kTileRows; first += kFindRows) {
    Value value[kFindRows][2];
#pragma unroll
    for (int k = 0; k < kFindRows; ++k) {
      value[k][0] = Sample<T>::read(line + col0 * map.sample_pitch);
      value[k][1] = Sample<T>::read(line + col1 * map.sample_pitch);
      if (place.row0 + first + k < bottom) line += map.row_pitch;
    }
#pragma unroll
    for (int k = 0; k < kFindRows; ++k) {
      const int r = min(place.row0 + first + k, bottom);
      const unsigned left = __ballot_sync(~0U, test(value[k][0], r, col0));
      const unsigned right = __ballot_sync(~0U, test(value[k][1], r, col1));
      if (lane == first + k) row.word = left | static_cast<unsigned long long>(right) << 32;
    }
  }
  row.last = test(last[0], row_here, col2) ? 1 : 0;
  const unsigned left = __ballot_sync(~0U, test(last[1], row_32, col0));
  const unsigned right = __ballot_sync(~0U, test(last[2], row_32, col1));
  last_row = {left | static_cast<unsigned long long>(right) << 32, test(last[3], row_32, col2) ? 1U : 0U};
}

/// The row below that of this lane.
__device__ __forceinline__ RowWord row_below(const RowWord& row, const RowWord& last_row) {
  const unsigned long long word = __shfl_down_sync(~0U, row.word, 1);
  const unsigned last = __shfl_down_sync(~0U, row.last, 1);
  return threadIdx.x % 32 == 31 ? last_row : RowWord{word, last};
}

template <class T, class P>
__global__ void __launch_bounds__(kFindThreads) find_crossed(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  using Value = typename Sample<T>::Value;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int at = static_cast<int>(blockIdx.x * (kFindThreads / 32) + threadIdx.x / 32);
  if (at >= job.tiles()) return;
  const TilePlace place = place_of_block(job, at);
  const LevelTest<T> test(job, place.plane);
  const bool masked = job.map.mask != nullptr;
  bool usual = true;
  RowWord row;
  RowWord last_row;
  read_rows<T>(
      job, place,
      [&](Value v, int r, int c) {
        usual = usual && test.is_usual(v);
        if (masked && is_masked(job.map, r, c)) usual = false;
        return test.is_high(v);
      },
      row, last_row);
  const bool unusual = __any_sync(~0U, usual ? 0 : 1) != 0;
  unsigned long long crossed = 0;
  unsigned long long saddle = 0;
  find_cells(row, row_below(row, last_row), place.columns, crossed, saddle);
  if (unusual) {
    RowWord upper;
    RowWord last_valid;
    read_rows<T>(
        job, place, [&](Value v, int r, int c) { return v == v && (!masked || !is_masked(job.map, r, c)); },
        upper, last_valid);
    const RowWord lower = row_below(upper, last_valid);
    crossed &= upper.word & upper.right() & lower.word & lower.right();
  }
  if (lane >= place.rows) crossed = 0;
  saddle &= crossed;
  if (__any_sync(~0U, crossed != 0 ? 1 : 0) == 0) {
    if (lane == 0) job.work.tile_pieces[place.tile] = {0, 0};
    return;
  }
  unsigned to = 0;
  if (lane == 0) {
    to = atomicAdd(&job.work.counters->crossed_tiles, 1U);
    job.work.crossed_tiles[to] = static_cast<unsigned>(place.tile);
  }
  to = __shfl_sync(~0U, to, 0);
  TileBits& bits = job.work.tile_bits[to];
  bits.high[lane] = row.word;
  bits.crossed[lane] = crossed;
  bits.saddle[lane] = saddle;
  bits.high_last[lane] = row.last;
  if (lane == 0) {
    bits.high[kTileRows] = last_row.word;
    bits.high_last[kTileRows] = last_row.last;
    bits.unusual = unusual ? 1 : 0;
  }
}

}  // namespace contorno::contour_engine
