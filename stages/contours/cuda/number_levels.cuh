// Step 8, number, where a channel has several levels: by a scan over units as in number_scan.cuh, but only
// over those of near tiles, and in chunks.
//
//   Reads   NearTiles, tile_pieces, row_pieces, head_points
//   Writes  offsets, closed, class_begin, counts, head_offset
//
// The near tiles of a row of tiles follow each other, and so do their units: first the first row of cells of
// all these tiles, then the second, and so on.
#pragma once

#include "stages/contours/cuda/near_tiles.cuh"
#include "stages/contours/cuda/number_scan.cuh"

namespace contorno::contour_engine {

inline constexpr unsigned kChunkTiles = kChunk / kTileRows;  ///< near tiles whose units are a chunk
static_assert(kTileRows % kChunkEach == 0);

/// The near tiles of a row of tiles.
struct NearRow {
  unsigned first, count;
};

struct LevelsShared {
  ChunkShared scan;
  NearRow row[kChunkTiles];  ///< of each near tile of the chunk
};

/// The row of tiles of a near tile.
template <class P>
__device__ __forceinline__ NearRow row_of_tile(const PlaneGroup<P>& group, unsigned tile) {
  const NearTiles& near = group.work.near;
  const uint2 at = near.tiles[tile];
  const auto columns = static_cast<unsigned>(group.tiles_x);
  const unsigned begin = at.y % static_cast<unsigned>(group.tiles_x * group.tiles_y) / columns * columns;
  const unsigned first = near_before(near, at.x, begin);
  return {first, near_before(near, at.x, begin + columns) - first};
}

/// The pieces of a thread's units, which are kChunkEach of the row `row`, from `unit` on. Each step loads for
/// all of them.
template <class P>
__device__ __forceinline__ void load_pieces(const PlaneGroup<P>& group, const NearRow& row, unsigned unit,
                                            UnitPieces (&pieces)[kChunkEach]) {
  const unsigned within = unit - row.first * kTileRows;
  unsigned tile[kChunkEach], cell_row[kChunkEach];
  uint2 all[kChunkEach];
#pragma unroll
  for (unsigned k = 0; k < kChunkEach; ++k) {
    tile[k] = row.first + (within + k) % row.count;
    cell_row[k] = (within + k) / row.count;
    all[k] = __ldcg(&group.work.tile_pieces[tile[k]]);
  }
#pragma unroll
  for (unsigned k = 0; k < kChunkEach; ++k)
    if (all[k].y != 0) pieces[k] = pieces_of_row(group, all[k], tile[k], cell_row[k]);
}

/// Writes where planes begin, if a near tile is the first one of its plane: that plane and those before it
/// that have no near tiles.
template <class P>
__device__ __forceinline__ void begin_planes(const PlaneGroup<P>& group, unsigned tile,
                                             unsigned long long before) {
  const unsigned plane = group.work.near.tiles[tile].x;
  const unsigned first = tile == 0 ? 0 : group.work.near.tiles[tile - 1].x + 1;
  for (unsigned k = first; k <= plane; ++k) group.out.class_begin[k] = static_cast<unsigned>(before >> 32);
}

/// Writes what comes after all near tiles. Called by one thread.
template <class P>
__device__ __forceinline__ void end_planes(const PlaneGroup<P>& group, unsigned tiles,
                                           unsigned long long all) {
  const unsigned first = tiles == 0 ? 0 : group.work.near.tiles[tiles - 1].x + 1;
  for (unsigned plane = first; plane < static_cast<unsigned>(group.planes); ++plane)
    group.out.class_begin[plane] = static_cast<unsigned>(all >> 32);
  write_totals(group, all);
}

/// Numbers all contours. Called by as many blocks as fit, when all pieces are finished.
template <class P>
__global__ void __launch_bounds__(kChunkThreads) number_levels(const __grid_constant__ PlaneGroup<P> group) {
  wait_for_previous();
  let_next_begin();
  LevelsShared& s = block_shared<LevelsShared>();
  Counters& counters = *group.work.counters;
  if (group.overflowed(counters)) return;
  const unsigned tiles = counters.near_tiles, units = tiles * kTileRows;
  const unsigned long long numbered = counters.numbered;
  if (tiles == 0 && blockIdx.x == 0 && threadIdx.x == 0) end_planes(group, 0, numbered);
  const unsigned chunks = (units + kChunk - 1) / kChunk;
  ChunkStatus* const status = group.work.near.status + rank_chunks(group);
  for (unsigned chunk; (chunk = take_chunk(&counters.number_chunks, s.scan)) < chunks;) {
    const unsigned first_tile = chunk * kChunkTiles;
    if (threadIdx.x < kChunkTiles && first_tile + threadIdx.x < tiles)
      s.row[threadIdx.x] = row_of_tile(group, first_tile + threadIdx.x);
    __syncthreads();
    const unsigned unit = chunk * kChunk + threadIdx.x * kChunkEach;
    UnitPieces pieces[kChunkEach] = {};
    unsigned long long own = 0;
    if (unit < units) load_pieces(group, s.row[threadIdx.x * kChunkEach / kTileRows], unit, pieces);
#pragma unroll
    for (unsigned k = 0; k < kChunkEach; ++k) own += sum_of(group, pieces[k]);
    unsigned long long running = numbered + scan_chunk(status, chunk, own, s.scan);
    if (unit >= units) continue;
    if (unit % kTileRows == 0) begin_planes(group, unit / kTileRows, running);
#pragma unroll
    for (unsigned k = 0; k < kChunkEach; ++k) number_pieces(group, pieces[k], running);
    if (unit + kChunkEach == units) end_planes(group, tiles, running);
  }
}

}  // namespace contorno::contour_engine
