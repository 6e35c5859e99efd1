// Where segments meet: on grid edges, and on the rare samples on which a crossing falls exactly. Also slots:
// for each edge and sample on the border of a tile, a place where the tile writes which of its pieces begins
// there, so that a piece of a neighbouring tile that ends there finds its follower.
#pragma once

#include "stages/contours/cuda/engine.cuh"
#include "stages/contours/rules/sample_node.h"

namespace contorno::contour_engine {

// Slots ----------------------------------------------------------------------------------------------------
// Every tile owns the grid edges of its upper and left side and the samples on them. Owners are one row and
// one column more than tiles, for the samples of the map's last row and column.
template <class P>
__device__ __forceinline__ unsigned slot_owner(const Job<P>& job, int plane, int tile_y, int tile_x) {
  return static_cast<unsigned>((plane * (job.tiles_y + 1) + tile_y) * (job.tiles_x + 1) + tile_x) *
         kTileSlots;
}

/// Slot of the edge on `side` of a cell; kNone where no other tile lies beyond that edge.
template <class P>
__device__ __forceinline__ unsigned slot_of_edge(const Job<P>& job, int plane, int row, int col, int side) {
  const auto [r, c, across] = edge_of_side(row, col, side);
  if (across) {
    if (r % kTileRows != 0 || r == 0 || r >= job.cell_rows) return kNone;
    return slot_owner(job, plane, r / kTileRows, c / kTileColumns) + static_cast<unsigned>(c % kTileColumns);
  }
  if (c % kTileColumns != 0 || c == 0 || c >= job.cell_columns) return kNone;
  return slot_owner(job, plane, r / kTileRows, c / kTileColumns) + kTileColumns +
         static_cast<unsigned>(r % kTileRows);
}

/// Slot of the segment that leaves sample (row, col) into the cell of `quadrant`; kNone for a sample inside a
/// tile.
template <class P>
__device__ __forceinline__ unsigned slot_of_sample(const Job<P>& job, int plane, int row, int col,
                                                   int quadrant) {
  const int r = row % kTileRows;
  const int c = col % kTileColumns;
  if (r != 0 && c != 0) return kNone;
  const int place = r == 0 ? c : kTileColumns + r;
  return slot_owner(job, plane, row / kTileRows, col / kTileColumns) + kTileEdges +
         static_cast<unsigned>(4 * place + quadrant);
}

// Sample nodes ---------------------------------------------------------------------------------------------
/// A segment by the quadrant of its cell around a sample (NW, NE, SW, SE) and its number in the cell.
struct AroundSample {
  int quadrant, sub;  ///< quadrant -1: none
};

/// Which segment follows `arriving` at sample (row, col). Called by whole warps, each half with a sample of
/// its own; each of the 16 lanes looks at one end of one of the 8 possible segments.
template <class T>
__device__ __noinline__ AroundSample follower_at_sample(const Map& map, int plane, double level,
                                                        Connectivity connectivity, int row, int col,
                                                        AroundSample arriving) {
  // From the highest bit: quadrant, sub, end (1 = to).
  const int lane = static_cast<int>(threadIdx.x) % 16;
  const int r0 = row - 1 + (lane >> 3);
  const int c0 = col - 1 + (lane >> 2 & 1);
  const int sub = lane >> 1 & 1;
  bool exists = r0 >= 0 && r0 + 1 < map.height && c0 >= 0 && c0 + 1 < map.width;
  double value[4];  // upper left, upper right, lower left, lower right
  int code = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int r = min(max(r0 + k / 2, 0), map.height - 1);
    const int c = min(max(c0 + k % 2, 0), map.width - 1);
    value[k] = read_value<T>(map, plane, r, c);
    exists = exists && value[k] == value[k] && !is_masked(map, r, c);
    code |= value[k] > level ? 1 << k : 0;
  }
  exists = exists && sub < segment_count(code);
  const auto sides = static_cast<int>(sides_of(code, sub, connectivity));
  const int side = (lane & 1) != 0 ? sides >> 2 : sides & 3;
  const double a = side == kBottom ? value[2] : (side == kRight ? value[1] : value[0]);
  const double b = side == kTop ? value[1] : (side == kLeft ? value[2] : value[3]);
  const PointD point = crossing_point(edge_of_side(r0, c0, side), level, a, b);
  const PointD other{__shfl_xor_sync(~0U, point.row, 1), __shfl_xor_sync(~0U, point.col, 1)};
  const PointD here{static_cast<double>(row), static_cast<double>(col)};
  const unsigned ends = __ballot_sync(~0U, exists && point == here && !(point == other)) >>
                        (threadIdx.x % 32 - threadIdx.x % 16);
  const int follower = neighbour_at_sample<true>(ends, 2 * arriving.quadrant + arriving.sub);
  return follower < 0 ? AroundSample{-1, 0} : AroundSample{follower >> 1, follower & 1};
}

}  // namespace contorno::contour_engine
