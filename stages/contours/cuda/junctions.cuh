// Junctions: where contours go from tile to tile. For each grid edge on the border of a tile, and for each
// sample there, the tile writes which of its open pieces begins there (Work::junctions), so that a piece of a
// neighbouring tile that ends there finds its follower. A piece may also end at a border because the cell
// beyond it has an unusable sample; that cell is in another tile, so its samples are looked at.
#pragma once

#include "stages/contours/cuda/near_tiles.cuh"
#include "stages/contours/cuda/tile.cuh"

namespace contorno::contour_engine {

/// The first junction of the tile that has the cell (row, col). A tile has a junction for each grid edge on
/// its upper and left side, and one for each corner of its cells that lies on one of its sides. So whatever
/// crosses a junction crosses a cell of its tile.
template <class P>
__device__ __forceinline__ unsigned first_junction(const PlaneGroup<P>& group, int plane, int row, int col) {
  return tile_number(group, plane, row / kTileRows * group.tiles_x + col / kTileColumns) * kTileJunctions;
}

/// Junction of a grid edge; kNone where no other tile lies beyond it. `first`(row, col) is the first junction
/// of the tile that has a cell.
template <class P, class First>
__device__ __forceinline__ unsigned junction_on_edge(const PlaneGroup<P>& group, const GridEdge& edge,
                                                     const First& first) {
  const auto [r, c, across] = edge;
  if (across) {
    if (r % kTileRows != 0 || r == 0 || r >= group.cell_rows) return kNone;
    return first(r, c) + static_cast<unsigned>(c % kTileColumns);
  }
  if (c % kTileColumns != 0 || c == 0 || c >= group.cell_columns) return kNone;
  return first(r, c) + kTileColumns + static_cast<unsigned>(r % kTileRows);
}
/// Junction of the edge on `side` of a cell.
template <class P>
__device__ __forceinline__ unsigned junction_at_edge(const PlaneGroup<P>& group, int plane, int row, int col,
                                                     int side) {
  return junction_on_edge(group, edge_of_side(row, col, side),
                          [&](int r, int c) { return first_junction(group, plane, r, c); });
}

/// Junction of the segment that leaves sample (row, col) into the cell of `quadrant`; kNone for a sample
/// inside a tile.
template <class P>
__device__ __forceinline__ unsigned junction_at_sample(const PlaneGroup<P>& group, int plane, int row,
                                                       int col, int quadrant) {
  const bool between_rows = row % kTileRows == 0;
  if (!between_rows && col % kTileColumns != 0) return kNone;
  const int below = quadrant >> 1, right = quadrant & 1;  // where the cell lies
  const int cell_row = row - 1 + below, cell_col = col - 1 + right;
  // The corners are numbered along the side below the sample, then above, right and left of it, two for each
  // cell.
  const int corner =
      between_rows ? (below != 0 ? 0 : 2 * kTileColumns) + 2 * (cell_col % kTileColumns) + right
                   : 4 * kTileColumns + (right != 0 ? 0 : 2 * kTileRows) + 2 * (cell_row % kTileRows) + below;
  return first_junction(group, plane, cell_row, cell_col) + static_cast<unsigned>(kTileEdges + corner);
}

// Samples beyond the border -------------------------------------------------------------------------------
/// The two samples of the cell beyond the edge where a segment ends that are not on this edge. For edges of
/// the map samples inside stand for them; what follows from these is not used.
struct SamplesBeyond {
  int row[2], col[2];
};
/// Whether samples may be unusable at all: NaN or masked.
template <class T>
__device__ __forceinline__ bool may_be_unusable(const Map& map) {
  return Sample<T>::kMayBeNan || map.mask != nullptr;
}
__device__ __forceinline__ SamplesBeyond samples_beyond(const Map& map, const TileBounds& bounds,
                                                        const TileSegment& last) {
  const int side = last.to;
  const bool across = is_across(side);
  const int r = bounds.row0 + last.row + (side == kBottom ? 2 : (side == kTop ? -1 : 0));
  const int c = bounds.col0 + last.col + (side == kRight ? 2 : (side == kLeft ? -1 : 0));
  const int bottom = map.height - 1;
  const int right = map.width - 1;
  return {{max(min(r, bottom), 0), min(max(r, 0) + (across ? 0 : 1), bottom)},
          {max(min(c, right), 0), min(max(c, 0) + (across ? 1 : 0), right)}};
}

/// Whether the piece that ends with segment `last` goes no further because the cell beyond has an unusable
/// sample. The two samples on the edge are usable, so the other two decide.
template <class T>
__device__ __forceinline__ bool is_blocked(const Map& map, const TileBounds& bounds,
                                           const TileSegment& last) {
  if (!may_be_unusable<T>(map)) return false;
  const SamplesBeyond at = samples_beyond(map, bounds, last);
  const auto a = read_sample<T>(map, bounds.channel, at.row[0], at.col[0]);
  const auto b = read_sample<T>(map, bounds.channel, at.row[1], at.col[1]);
  return !(a == a && b == b) || is_masked(map, at.row[0], at.col[0]) || is_masked(map, at.row[1], at.col[1]);
}

}  // namespace contorno::contour_engine
