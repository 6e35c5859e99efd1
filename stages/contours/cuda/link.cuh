// Linking the segments of a tile: a segment is followed by the one that begins on the grid edge where it ends
// or, where its end falls on a sample, by the one that leaves that sample.
#pragma once

#include "stages/contours/cuda/rank.cuh"

namespace contorno::contour_engine {

/// The linking of one tile, as one of its threads sees it (of a block, or of a warp if kThreads is 32).
template <class T, class P, class Links, int kThreads>
class TileLinks : public TileRanks<T, P, Links, kThreads> {
 public:
  using Base = TileRanks<T, P, Links, kThreads>;
  using Base::Base;

 protected:
  using Base::crossing_of, Base::edge_of, Base::job_, Base::kEndKey, Base::level_, Base::place_, Base::s_,
      Base::segments_, Base::sync, Base::thread_;

  __device__ __forceinline__ void link() {
    if (s_.bits.unusual != 0)
      link_exact(job_, s_, place_, segments_);
    else
      link_edges();
  }

 private:
  using typename Base::Edge;

  /// Index of segment `sub` of a cell of the tile, kNone if the cell is not crossed.
  __device__ __forceinline__ unsigned segment_of(int cell, int sub) const {
    const CellWords cells = s_.bits.cells[cell / 32];
    const unsigned bit = 1U << (cell % 32);
    if ((cells.crossed & bit) == 0) return kNone;
    return s_.before[cell / 32] + static_cast<unsigned>(__popc(cells.crossed & (bit - 1))) +
           static_cast<unsigned>(__popc(cells.saddle & (bit - 1))) + static_cast<unsigned>(sub);
  }

  /// Index of the segment that begins on the edge where `segment` (packed) ends; kNone if the cell beyond the
  /// edge is in another tile or not crossed.
  __device__ __forceinline__ unsigned over_edge(unsigned segment) const {
    const int to = static_cast<int>(segment >> 14);
    const int cell = static_cast<int>(segment & (kTileRows * kTileColumns - 1));
    const int next = cell + ((to & 1) != 0 ? 2 - to : (to - 1) * kTileColumns);
    const bool inside = (to & 1) != 0 ? next / kTileColumns == cell / kTileColumns && next >= 0
                                      : next >= 0 && next < kTileRows * kTileColumns;
    if (!inside) return kNone;
    const CellWords cells = s_.bits.cells[next / 32];
    const unsigned bit = 1U << (next % 32);
    if ((cells.crossed & bit) == 0) return kNone;
    const unsigned sub =
        (cells.saddle & bit) != 0 ? saddle_segment_from(opposite(to), job_.connectivity()) : 0;
    return s_.before[next / 32] + static_cast<unsigned>(__popc(cells.crossed & (bit - 1))) +
           static_cast<unsigned>(__popc(cells.saddle & (bit - 1))) + sub;
  }

  __device__ __forceinline__ void set_follower(unsigned index, unsigned next) {
    s_.links.word[index] =
        Links::pack({next == kNone ? 0 : next, next == kNone ? index + kEndKey : index, 0});
  }

  __device__ __forceinline__ void link_edges() {
#pragma unroll 1
    for (int i = thread_; i < segments_; i += kThreads) {
      const unsigned next = over_edge(s_.segment[i]);
      if (next != kNone)
        s_.joints[next] = kHasPrevious;
      else if constexpr (kThreads != 32)
        Base::ask_for_beyond(unpack_segment(s_.segment[i]));
      set_follower(static_cast<unsigned>(i), next);
    }
    sync();
  }

  /// Linking from exact points, for unusual tiles. Not inlined, so that it takes no registers from the common
  /// way; short, because code that seldom runs is slow to fetch, and the tile that runs it often ends last.
  static __device__ __noinline__ void link_exact(const Job<P>& job, TileShared<Links>& shared,
                                                 TilePlace place, int segments) {
    TileLinks links(job, shared, place);
    links.segments_ = segments;
    links.link_nodes();
  }

  /// Links a tile in which crossings may fall on samples. Most of its segments are far from such a sample and
  /// are linked by edges. Of the others, those of length zero are taken out, and the rest are linked by edge
  /// or sample (NodeKind).
  __device__ __forceinline__ void link_nodes() {
    const LevelTest<T> test(job_, place_.plane);
    const int lane = thread_ % 32;
#pragma unroll 1
    for (int base = thread_ - lane; base < segments_; base += kThreads) {
      const int i = base + lane;
      const bool valid = i < segments_;
      const unsigned short word = valid ? s_.segment[i] : pack_segment(0, 0, 0, kRight << 2);
      const TileSegment segment = unpack_segment(word);
      const Edge from = edge_of(segment, segment.from);
      const Edge to = edge_of(segment, segment.to);
      NodeKind node = NodeKind::Edge;
      PointD end{};
      if (valid && !(test.misses_samples(from.a, from.b) && test.misses_samples(to.a, to.b))) {
        end = crossing_of(to);
        node = node_of(end, to.where.across);
        if (crossing_of(from) == end) {
          s_.segment[i] = pack_segment(segment.row, segment.col, segment.sub, 0);
          node = NodeKind::None;
        }
      }
      unsigned next = node == NodeKind::Edge ? over_edge(word) : kNone;
      unsigned joint = node == NodeKind::None ? kAtNothing : 0U;
      const bool on_sample = node == NodeKind::Sample;
      const int row = on_sample ? static_cast<int>(end.row) : 0;
      const int col = on_sample ? static_cast<int>(end.col) : 0;
      const AroundSample follower = followers_at_samples(on_sample, segment, row, col);
      if (on_sample) {
        next = at_sample(row, col, follower);
        joint = follower.quadrant < 0
                    ? kAtNothing
                    : kAtSample | (row != to.where.row || col != to.where.col ? kFarSample : 0U) |
                          static_cast<unsigned>(follower.quadrant) * kQuadrant;
      }
      if (!valid) continue;
      s_.joints[i] = static_cast<unsigned char>(joint);
      set_follower(static_cast<unsigned>(i), next);
    }
    sync();
    for (int i = thread_; i < segments_; i += kThreads)
      if (!Links::has_end(s_.links.word[i])) s_.joints[Links::target(s_.links.word[i])] |= kHasPrevious;
    sync();
  }

  /// For the lanes whose segment ends on a sample, at (row, col): which segment leaves that sample. Each half
  /// of the warp finds one at a time.
  __device__ __forceinline__ AroundSample followers_at_samples(bool on_sample, const TileSegment& segment,
                                                               int row, int col) const {
    const int lane = thread_ % 32;
    const int quadrant = 2 * (place_.row0 + segment.row - row + 1) + place_.col0 + segment.col - col + 1;
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
      const AroundSample found = follower_at_sample<T>(job_.map, place_.plane, level_, job_.connectivity(),
                                                       sample_row, sample_col, arriving);
      const int half = lane == second ? 16 : 0;
      const AroundSample own = {__shfl_sync(~0U, found.quadrant, half), __shfl_sync(~0U, found.sub, half)};
      if (lane == first || lane == second) follower = own;
    }
    return follower;
  }

  /// Index of the segment that leaves a sample, kNone if there is none or its cell is not of this tile.
  __device__ __forceinline__ unsigned at_sample(int sample_row, int sample_col,
                                                const AroundSample& leaving) const {
    const int row = sample_row - 1 + (leaving.quadrant >> 1) - place_.row0;
    const int col = sample_col - 1 + (leaving.quadrant & 1) - place_.col0;
    const bool inside =
        leaving.quadrant >= 0 && row >= 0 && row < kTileRows && col >= 0 && col < kTileColumns;
    return inside ? segment_of(row * kTileColumns + col, leaving.sub) : kNone;
  }
};

}  // namespace contorno::contour_engine
