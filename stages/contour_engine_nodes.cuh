// Where segments meet: grid edges, and the rare samples on which a crossing falls exactly (specs: sample
// nodes). Also the slots, in which a tile leaves the pieces that begin on its border for its neighbours.
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

enum class NodeKind : int { None, Edge, Sample };

/// The node of a point on `side`. A coordinate that is not a number links to nothing.
__device__ __forceinline__ NodeKind node_of(const Vec& point, int side) {
  const double moving = side == kTop || side == kBottom ? point.col : point.row;
  if (!(moving == moving)) return NodeKind::None;
  return moving == floor(moving) ? NodeKind::Sample : NodeKind::Edge;
}

__device__ __forceinline__ bool same_point(const Vec& a, const Vec& b) {
  return a.row == b.row && a.col == b.col;
}

// Slots ----------------------------------------------------------------------------------------------------
// Every tile owns the grid edges of its upper and left side and the samples on them; the grid of owners is
// one larger than that of tiles, for the samples of the last row and column.
template <class P>
__device__ __forceinline__ unsigned slot_owner(const Job<P>& job, int plane, int tile_y, int tile_x) {
  return static_cast<unsigned>((plane * (job.tiles_y + 1) + tile_y) * (job.tiles_x + 1) + tile_x) *
         kTileSlots;
}

/// Slot of the edge on `side` of a cell, kNone where no other tile lies behind it.
template <class P>
__device__ __forceinline__ unsigned slot_of_edge(const Job<P>& job, int plane, int row, int col, int side) {
  const int r = row + (side == kBottom ? 1 : 0);
  const int c = col + (side == kRight ? 1 : 0);
  if (side == kTop || side == kBottom) {
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

/// The crossing on `side` of cell (row, col), on the rare ways: one copy of it is enough, and code that is
/// seldom run is slow to fetch.
template <class T>
__device__ __noinline__ Vec rare_crossing(const Map& map, int plane, double level, int row, int col,
                                          int side) {
  return crossing_at<T>(map, plane, level, row, col, side);
}

/// Which segment follows `arriving` at sample (row, col): the ends of all segments around the sample are
/// visited in raster order with one register for a waiting start and one for a waiting end.
template <class T>
__device__ __noinline__ AroundSample follower_at_sample(const Map& map, int plane, double level,
                                                        int connect_high, int row, int col,
                                                        AroundSample arriving) {
  // All samples are asked for at once, those beyond the map replaced by the last ones.
  typename Sample<T>::Value stored[9];
  bool used[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int r = row - 1 + k / 3;
    const int c = col - 1 + k % 3;
    const int r0 = min(max(r, 0), map.height - 1);
    const int c0 = min(max(c, 0), map.width - 1);
    stored[k] = read_sample<T>(map, plane, r0, c0);
    used[k] = r == r0 && c == c0 && !is_masked(map, r, c);
  }
  double value[3][3];
  bool valid[3][3];
#pragma unroll 1
  for (int k = 0; k < 9; ++k) {
    const double v = value_of<T>(map, stored[k]);
    value[k / 3][k % 3] = v;
    valid[k / 3][k % 3] = used[k] && v == v;
  }
  const Vec here{static_cast<double>(row), static_cast<double>(col)};
  AroundSample start{-1, 0};
  AroundSample end{-1, 0};
#pragma unroll 1
  for (int quadrant = 0; quadrant < 4; ++quadrant) {
    const int dr = quadrant >> 1;
    const int dc = quadrant & 1;
    if (!(valid[dr][dc] && valid[dr][dc + 1] && valid[dr + 1][dc] && valid[dr + 1][dc + 1])) continue;
    const double ul = value[dr][dc];
    const double ur = value[dr][dc + 1];
    const double ll = value[dr + 1][dc];
    const double lr = value[dr + 1][dc + 1];
    const int code =
        (ul > level ? 1 : 0) + (ur > level ? 2 : 0) + (ll > level ? 4 : 0) + (lr > level ? 8 : 0);
#pragma unroll 1
    for (int sub = 0; sub < segments_of(code); ++sub) {
      const int sides = sides_of(code, sub, connect_high);
      const auto point = [&](int side) {
        const double a = side == kBottom ? ll : (side == kRight ? ur : ul);
        const double b = side == kTop ? ur : (side == kLeft ? ll : lr);
        return crossing_point(level, row - 1 + dr, col - 1 + dc, side, a, b);
      };
      const Vec from = point(sides & 3);
      const Vec to = point(sides >> 2);
      if (same_point(from, to)) continue;
      if (same_point(to, here)) {
        if (start.quadrant >= 0) {
          if (quadrant == arriving.quadrant && sub == arriving.sub) return start;
          start.quadrant = -1;
        } else {
          end = {quadrant, sub};
        }
      } else if (same_point(from, here)) {
        if (end.quadrant >= 0) {
          if (end.quadrant == arriving.quadrant && end.sub == arriving.sub) return {quadrant, sub};
          end.quadrant = -1;
        } else {
          start = {quadrant, sub};
        }
      }
    }
  }
  return {-1, 0};
}

}  // namespace contorno::contour_engine
