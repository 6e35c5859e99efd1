// Step 8, number, for any number of contours: by an exclusive scan over units in raster order. A unit is one
// row of cells of one tile, (plane, row, tile), with the pieces whose first segment lies in it; pieces with
// head_points are heads of contours.
//
//   Reads   tile_pieces, row_pieces, head_points
//   Writes  offsets, closed, class_begin, counts, head_offset
//
// A scan in one pass: every block publishes the sum of its units and adds up those of all blocks before it,
// while these run. Blocks wait only for blocks that began before them.
#pragma once

#include "cuda/sums.cuh"
#include "stages/contours/cuda/contour_table.cuh"

namespace contorno::contour_engine {

inline constexpr int kScanThreads = 256;
inline constexpr unsigned long long kReady = 1ULL << 63;

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

/// The same, and if the unit begins a plane writes where that begins.
template <class P>
__device__ __forceinline__ void number_unit(const PlaneGroup<P>& group, unsigned unit,
                                            const UnitPieces& pieces, unsigned long long& running) {
  const unsigned plane_units = static_cast<unsigned>(group.cell_rows) * static_cast<unsigned>(group.tiles_x);
  if (unit % plane_units == 0)
    group.out.class_begin[unit / plane_units] = static_cast<unsigned>(running >> 32);
  number_pieces(group, pieces, running);
}

/// (contours << 32 | points) of the planes before those of this group, in the thread of the first unit; 0 in
/// others.
template <class P>
__device__ __forceinline__ unsigned long long numbered_before(const PlaneGroup<P>& group, unsigned block) {
  return block == 0 && threadIdx.x == 0 ? group.work.counters->numbered : 0;
}

template <class P>
__device__ __forceinline__ unsigned units_of(const PlaneGroup<P>& group) {
  return static_cast<unsigned>(group.planes) * static_cast<unsigned>(group.cell_rows) *
         static_cast<unsigned>(group.tiles_x);
}

struct ScanShared {
  unsigned long long sums[kScanThreads / 32], previous[kScanThreads / 32];
};

/// Numbers all contours, a unit a thread. Called by group.scan_blocks blocks, of which this one is number
/// `block`. Every block publishes its sum, and adds up those of all blocks before it.
template <class P>
__device__ __forceinline__ void number_by_scan(const PlaneGroup<P>& group, unsigned block, unsigned unit,
                                               const UnitPieces& pieces, ScanShared& s) {
  const unsigned long long before = numbered_before(group, block);
  const unsigned long long own = before + sum_of(group, pieces);
  unsigned long long all = 0;
  unsigned long long running = before + sum_before_thread(own, s.sums, all);
  if (threadIdx.x == 0) store_relaxed(&group.work.scan_status[block], all | kReady);
  // The sums of all blocks before this one: each thread waits for some of them.
  unsigned long long previous = 0;
  for (unsigned b = threadIdx.x; b < block; b += kScanThreads) {
    unsigned long long status = load_relaxed(&group.work.scan_status[b]);
    while ((status & kReady) == 0) {
      spin_pause();
      status = load_relaxed(&group.work.scan_status[b]);
    }
    previous += status & ~kReady;
  }
  sum_before_thread(previous, s.previous, all);
  running += all;
  if (unit < units_of(group)) number_unit(group, unit, pieces, running);
  if (block == group.scan_blocks - 1 && threadIdx.x == kScanThreads - 1) write_totals(group, running);
}

}  // namespace contorno::contour_engine
