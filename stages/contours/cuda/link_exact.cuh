// Step 4 of a tile, link, where crossings may fall on samples: by the points themselves.
//
//   Reads   segment, TileBits, samples
//   Writes  links (of one step), flags; marks segments of length zero
//
// Most segments of such a tile are far from such a sample and are linked over edges. Of the others, those of
// length zero are taken out, and the rest are linked by edge or by sample (rules/sample_node.h). This code
// runs seldom, so it is short and not inlined: it takes no registers from the common way, code that is run
// once is slow to fetch, and the tile that runs it often ends last.
#pragma once

#include "stages/contours/cuda/level.cuh"
#include "stages/contours/cuda/link.cuh"
#include "stages/contours/rules/sample_node.h"

namespace contorno::contour_engine {

/// A segment by the quadrant of its cell around a sample (NW, NE, SW, SE) and its number in the cell.
struct AroundSample {
  int quadrant, sub;  ///< quadrant -1: none
};

/// Which segment follows `arriving` at sample (row, col). Called by whole warps, each half with a sample of
/// its own; each of the 16 lanes looks at one end of one of the 8 possible segments.
template <class T>
__device__ __noinline__ AroundSample follower_at_sample(const Map& map, int channel, double level,
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
    value[k] = read_value<T>(map, channel, r, c);
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

/// Which segment leaves the sample at (row, col), for the lanes whose segment ends on it (`on_sample`). Each
/// half of the warp finds one such segment at a time.
template <class S>
__device__ __forceinline__ AroundSample followers_at_samples(const Tile<S>& tile, bool on_sample,
                                                             const TileSegment& segment, int row, int col) {
  const TileBounds& bounds = tile.bounds;
  const int lane = tile.thread % 32;
  const int quadrant = 2 * (bounds.row0 + segment.row - row + 1) + bounds.col0 + segment.col - col + 1;
  AroundSample follower{-1, 0};
  for (unsigned rest = __ballot_sync(~0U, on_sample); rest != 0;) {
    const int first = __ffs(static_cast<int>(rest)) - 1;
    rest &= rest - 1;
    const int second = rest == 0 ? first : __ffs(static_cast<int>(rest)) - 1;
    rest &= rest - 1;
    const int whose = lane < 16 ? first : second;
    const int sample_row = __shfl_sync(~0U, row, whose);
    const int sample_col = __shfl_sync(~0U, col, whose);
    const AroundSample arriving = {__shfl_sync(~0U, quadrant, whose), __shfl_sync(~0U, segment.sub, whose)};
    const AroundSample found =
        follower_at_sample<typename S::Element>(tile.group.map, bounds.channel, tile.level,
                                                tile.group.connectivity(), sample_row, sample_col, arriving);
    const int half = lane == second ? 16 : 0;
    const AroundSample own = {__shfl_sync(~0U, found.quadrant, half), __shfl_sync(~0U, found.sub, half)};
    if (lane == first || lane == second) follower = own;
  }
  return follower;
}

/// Index of the segment that leaves a sample, kNone if there is none or its cell is not of this tile.
template <class S>
__device__ __forceinline__ unsigned index_at_sample(const Tile<S>& tile, int sample_row, int sample_col,
                                                    const AroundSample& leaving) {
  const int row = sample_row - 1 + (leaving.quadrant >> 1) - tile.bounds.row0;
  const int col = sample_col - 1 + (leaving.quadrant & 1) - tile.bounds.col0;
  const bool inside = leaving.quadrant >= 0 && row >= 0 && row < kTileRows && col >= 0 && col < kTileColumns;
  if (!inside) return kNone;
  const int cell = row * kTileColumns + col;
  const CellWords cells = tile.shared.bits.cells[cell / 32];
  const unsigned bit = 1U << (cell % 32);
  if ((cells.crossed & bit) == 0) return kNone;
  return index_in_word(tile, cell / 32, cells, bit) + static_cast<unsigned>(leaving.sub);
}

/// Where a segment ends: on an edge, at the point `end` which is a sample, or nowhere.
struct SegmentEnd {
  NodeKind kind;
  PointD point;
  GridEdge edge;
};

/// Looks at the end of segment i, which is `segment` (packed `word`); takes it out if its length is zero.
template <class S>
__device__ __forceinline__ SegmentEnd find_end(Tile<S>& tile, const LevelTest<typename S::Element>& test,
                                               int i, bool valid, const TileSegment& segment) {
  const auto from = read_edge(tile, segment, segment.from);
  const auto to = read_edge(tile, segment, segment.to);
  SegmentEnd end{NodeKind::Edge, {}, to.where};
  if (valid && !(test.misses_samples(from.a, from.b) && test.misses_samples(to.a, to.b))) {
    end.point = crossing_of(tile, to);
    end.kind = node_of(end.point, to.where.across);
    if (crossing_of(tile, from) == end.point) {
      tile.shared.segment[i] = pack_segment(segment.row, segment.col, segment.sub, 0);
      end.kind = NodeKind::None;
    }
  }
  return end;
}

/// Links the tile. Ends with a barrier.
template <class S>
__device__ __forceinline__ void link_by_points(Tile<S>& tile) {
  auto& s = tile.shared;
  const LevelTest<typename S::Element> test(tile.group, tile.bounds.plane);
  const int lane = tile.thread % 32;
#pragma unroll 1
  for (int base = tile.thread - lane; base < tile.segments; base += S::kThreads) {
    const int i = base + lane;
    const bool valid = i < tile.segments;
    const unsigned short word = valid ? s.segment[i] : pack_segment(0, 0, 0, kRight << 2);
    const TileSegment segment = unpack_segment(word);
    const SegmentEnd end = find_end(tile, test, i, valid, segment);
    unsigned next = end.kind == NodeKind::Edge ? next_over_edge(tile, word) : kNone;
    unsigned flags = end.kind == NodeKind::None ? kAtNothing : 0U;
    const bool on_sample = end.kind == NodeKind::Sample;
    const int row = on_sample ? static_cast<int>(end.point.row) : 0;
    const int col = on_sample ? static_cast<int>(end.point.col) : 0;
    const AroundSample follower = followers_at_samples(tile, on_sample, segment, row, col);
    if (on_sample) {
      next = index_at_sample(tile, row, col, follower);
      flags = follower.quadrant < 0
                  ? kAtNothing
                  : kAtSample | (row != end.edge.row || col != end.edge.col ? kFarSample : 0U) |
                        static_cast<unsigned>(follower.quadrant) * kQuadrant;
    }
    if (!valid) continue;
    s.flags[i] = static_cast<unsigned char>(flags);
    set_next(tile, static_cast<unsigned>(i), next);
  }
  tile.sync();
  using Links = typename S::Links;
  for (int i = tile.thread; i < tile.segments; i += S::kThreads)
    if (!Links::has_end(s.links.word[i])) s.flags[Links::next(s.links.word[i])] |= kHasPrevious;
  tile.sync();
}

/// link_by_points in a function that is not inlined, with a tile of its own.
template <class S>
__device__ __noinline__ void link_exact(const PlaneGroup<typename S::Point>& group,
                                        TileShared<typename S::Links>& shared, TileBounds bounds,
                                        int segments) {
  Tile<S> tile(group, shared, bounds);
  tile.segments = segments;
  link_by_points(tile);
}

}  // namespace contorno::contour_engine
