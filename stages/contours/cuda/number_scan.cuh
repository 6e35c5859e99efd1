// Step 8, number, for any number of contours: by an exclusive scan over units in raster order. A unit is one
// row of cells of one tile, (plane, row, tile), with the pieces whose first segment lies in it; pieces with
// head_points are heads of contours.
//
//   Reads   tile_pieces, row_pieces, head_points
//   Writes  offsets, closed, class_begin, counts, head_offset
//
// The scan is in one pass, a chunk of units a block (chunk_scan.cuh).
#pragma once

#include "stages/contours/cuda/chunk_scan.cuh"
#include "stages/contours/cuda/contour_table.cuh"

namespace contorno::contour_engine {

/// The pieces of one unit.
struct UnitPieces {
  unsigned begin, end;
};

/// The pieces of row `row` of a tile, of which `pieces` are all: the first one and their number, not 0.
template <class P>
__device__ __forceinline__ UnitPieces pieces_of_row(const PlaneGroup<P>& group, const uint2& pieces,
                                                    unsigned tile, unsigned row) {
  const unsigned short* const rows =
      group.work.row_pieces + static_cast<std::size_t>(tile) * (kTileRows + 1) + row;
  return {pieces.x + __ldcg(&rows[0]), pieces.x + __ldcg(&rows[1])};
}

template <class P>
__device__ __forceinline__ UnitPieces pieces_of(const PlaneGroup<P>& group, unsigned unit) {
  const unsigned tile_x = unit % static_cast<unsigned>(group.tiles_x);
  const unsigned row = unit / static_cast<unsigned>(group.tiles_x);
  const unsigned plane = row / static_cast<unsigned>(group.cell_rows);
  const unsigned plane_row = row % static_cast<unsigned>(group.cell_rows);
  const unsigned tile = (plane * static_cast<unsigned>(group.tiles_y) + plane_row / kTileRows) *
                            static_cast<unsigned>(group.tiles_x) +
                        tile_x;
  const uint2 pieces = __ldcg(&group.work.tile_pieces[tile]);
  if (pieces.y == 0) return {0, 0};
  return pieces_of_row(group, pieces, tile, plane_row % kTileRows);
}

/// Calls `use` with (piece, points, closed) of each contour whose head piece is in the unit. Loads four
/// pieces at a time.
template <class P, class Use>
__device__ __forceinline__ void for_heads(const PlaneGroup<P>& group, const UnitPieces& unit,
                                          const Use& use) {
  for (unsigned piece = unit.begin; piece < unit.end; piece += 4) {
    unsigned points[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      points[k] = piece + k < unit.end ? __ldcg(&group.work.head_points[piece + k]) : 0;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      if (points[k] != 0) use(piece + k, points[k] & ~(1U << 31), points[k] >> 31);
  }
}

/// (contours << 32 | points) of a unit.
template <class P>
__device__ __forceinline__ unsigned long long sum_of(const PlaneGroup<P>& group, const UnitPieces& unit) {
  unsigned long long sum = 0;
  for_heads(group, unit, [&](unsigned, unsigned points, unsigned) { sum += 1ULL << 32 | points; });
  return sum;
}

/// Numbers the contours of a unit's pieces. `running` is (contours << 32 | points) before the unit, and
/// afterwards with it.
template <class P>
__device__ __forceinline__ void number_pieces(const PlaneGroup<P>& group, const UnitPieces& pieces,
                                              unsigned long long& running) {
  for_heads(group, pieces, [&](unsigned piece, unsigned points, unsigned closed) {
    write_contour(group, piece, running, closed);
    running += 1ULL << 32 | points;
  });
}

/// Numbers the contours of a unit, and where the unit is the first of a plane writes where the plane begins.
template <class P>
__device__ __forceinline__ void number_unit(const PlaneGroup<P>& group, unsigned unit,
                                            const UnitPieces& pieces, unsigned long long& running) {
  const unsigned plane_units = static_cast<unsigned>(group.cell_rows) * static_cast<unsigned>(group.tiles_x);
  if (unit % plane_units == 0)
    group.out.class_begin[unit / plane_units] = static_cast<unsigned>(running >> 32);
  number_pieces(group, pieces, running);
}

template <class P>
__device__ __forceinline__ unsigned units_of(const PlaneGroup<P>& group) {
  return static_cast<unsigned>(group.planes) * static_cast<unsigned>(group.cell_rows) *
         static_cast<unsigned>(group.tiles_x);
}

/// Numbers all contours, a unit a thread. Called by group.scan_blocks blocks, of which this one is number
/// `block`.
template <class P>
__device__ __forceinline__ void number_by_scan(const PlaneGroup<P>& group, unsigned block, unsigned unit,
                                               const UnitPieces& pieces, ChunkShared& s) {
  unsigned long long running =
      group.work.counters->numbered + scan_chunk(group.work.scan_status, block, sum_of(group, pieces), s);
  if (unit < units_of(group)) number_unit(group, unit, pieces, running);
  if (block == group.scan_blocks - 1 && threadIdx.x == kScanThreads - 1) write_totals(group, running);
}

}  // namespace contorno::contour_engine
