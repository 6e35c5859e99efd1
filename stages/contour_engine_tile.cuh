// The second step of a tile: segments, their followers, and the pieces of contours that they form.
//
// list of segments -> followers -> rank by pointer jumping in shared memory -> leaders (one a piece). What
// becomes of them is in contour_engine_pieces.cuh.
#pragma once

#include "stages/contour_engine_pieces.cuh"

namespace contorno::contour_engine {

/// The place of the n-th segment (from 0) among cells with one or two.
__device__ __forceinline__ int cell_of_segment(unsigned crossed, unsigned saddle, unsigned n) {
  int cell = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const unsigned below = (1U << (cell + step)) - 1;
    const auto segments = static_cast<unsigned>(__popc(crossed & below) + __popc(saddle & below));
    if (segments <= n) cell += step;
  }
  return cell;
}

/// One tile, seen by one thread of its block.
template <class T, class P, class Links, int kThreads>
class TileTracer : public TilePieces<T, P, Links, kThreads> {
 public:
  using Base = TilePieces<T, P, Links, kThreads>;
  using Base::Base;

  /// Number of segments before each group of cells, by the first warp. Ends with a barrier; returns all.
  __device__ int count_segments() {
    if (thread_ < 32) {
      const CellWords left = s_.bits.cells[2 * thread_];
      const CellWords right = s_.bits.cells[2 * thread_ + 1];
      const auto in_left = static_cast<unsigned>(__popc(left.crossed) + __popc(left.saddle));
      const auto in_right = static_cast<unsigned>(__popc(right.crossed) + __popc(right.saddle));
      const unsigned sum = Base::warp_scan(in_left + in_right);
      s_.before[2 * thread_] = static_cast<unsigned short>(sum - in_right - in_left);
      s_.before[2 * thread_ + 1] = static_cast<unsigned short>(sum - in_right);
      if (thread_ == 31) s_.before[kTileGroups] = static_cast<unsigned short>(sum);
    }
    if (thread_ == 0) s_.open = s_.closed = 0;
    sync();
    segments_ = s_.before[kTileGroups];
    return segments_;
  }

  /// After count_segments; there is at least one segment, and at most kCapacity.
  __device__ void run() {
    Base::ask_for_points();
    // A thread a segment, or (where there are many) a thread a part of a row.
    if (kThreads < 8 * kTileRows || segments_ <= kThreads)
      list_by_segments();
    else
      list_by_cells();
    sync();
    if (s_.bits.unusual != 0)
      link_exact(job_, s_, place_, segments_);
    else
      link_edges();
    rank();
    collect_pieces();
    find_leaders();
    Base::write();
  }

 private:
  using Base::follower_of, Base::job_, Base::kCapacity, Base::kEndKey, Base::place_, Base::point_of, Base::s_,
      Base::segments_, Base::sync, Base::thread_;
  using typename Base::Edge;
  static constexpr int kEach = (static_cast<int>(kCapacity) + kThreads - 1) / kThreads;

  static __device__ __forceinline__ bool sync_any(bool value) {
    if constexpr (kThreads == 32)
      return __any_sync(~0U, value ? 1 : 0) != 0;
    else
      return __syncthreads_or(value ? 1 : 0) != 0;
  }
  __device__ __forceinline__ void list(unsigned index, int group, int bit, int sub, const CellWords& cells) {
    const FromWords from = s_.bits.from[group];
    const unsigned sides = (from.odd >> bit & 1) | (from.late >> bit & 1) << 1 |
                           (cells.to_odd >> bit & 1) << 2 | (cells.to_late >> bit & 1) << 3;
    // The second segment of a saddle has the opposite sides.
    s_.segment[index] =
        static_cast<unsigned short>(static_cast<unsigned>(group * 32 + bit) |
                                    static_cast<unsigned>(sub) << 11 | (sides ^ (sub != 0 ? 10U : 0U)) << 12);
    s_.has_previous[index] = 0;
  }

  __device__ __forceinline__ void list_by_segments() {
#pragma unroll 1
    for (int i = thread_; i < segments_; i += kThreads) {
      const auto index = static_cast<unsigned>(i);
      int group = 0;  // the last one with at most i segments before it
#pragma unroll
      for (int step = kTileGroups / 2; step > 0; step /= 2)
        if (s_.before[group + step] <= index) group += step;
      const CellWords cells = s_.bits.cells[group];
      const unsigned n = index - s_.before[group];
      const int bit = cell_of_segment(cells.crossed, cells.saddle, n);
      const unsigned below = (1U << bit) - 1;
      const auto first = static_cast<unsigned>(__popc(cells.crossed & below) + __popc(cells.saddle & below));
      list(index, group, bit, static_cast<int>(n - first), cells);
    }
  }

  __device__ __forceinline__ void list_by_cells() {
    constexpr int kCells = 8;
    if (thread_ >= kTileGroups * 32 / kCells) return;
    const int group = thread_ * kCells / 32;
    const CellWords cells = s_.bits.cells[group];
    const unsigned part = 0xFFU << (thread_ * kCells % 32);
    const unsigned below = (part & (~part + 1)) - 1;
    unsigned index = s_.before[group] +
                     static_cast<unsigned>(__popc(cells.crossed & below) + __popc(cells.saddle & below));
    for (unsigned rest = cells.crossed & part; rest != 0; rest &= rest - 1) {
      const int bit = __ffs(static_cast<int>(rest)) - 1;
      list(index++, group, bit, 0, cells);
      if ((cells.saddle >> bit & 1) != 0) list(index++, group, bit, 1, cells);
    }
  }

  /// Index of segment `sub` of a cell of the tile, kNone if it is not crossed.
  __device__ __forceinline__ unsigned segment_of(int cell, int sub) const {
    const CellWords cells = s_.bits.cells[cell / 32];
    const unsigned bit = 1U << (cell % 32);
    if ((cells.crossed & bit) == 0) return kNone;
    return s_.before[cell / 32] + static_cast<unsigned>(__popc(cells.crossed & (bit - 1))) +
           static_cast<unsigned>(__popc(cells.saddle & (bit - 1))) + static_cast<unsigned>(sub);
  }

  /// Index of the segment behind the edge where `segment` ends, kNone if that cell is not of this tile.
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
    // Of a saddle's two segments the second starts on the bottom or, by what it connects, left or right.
    const unsigned second = 1U << kBottom | (job_.connect_high != 0 ? 1U << kRight : 1U << kLeft);
    const unsigned sub = (cells.saddle & bit) != 0 ? second >> (to ^ 2) & 1 : 0;
    return s_.before[next / 32] + static_cast<unsigned>(__popc(cells.crossed & (bit - 1))) +
           static_cast<unsigned>(__popc(cells.saddle & (bit - 1))) + sub;
  }

  __device__ __forceinline__ void set_follower(unsigned index, unsigned next) {
    if (next != kNone) s_.has_previous[next] = 1;
    s_.links.word[index] =
        Links::pack({next == kNone ? 0 : next, next == kNone ? index + kEndKey : index, 0});
  }

  __device__ __forceinline__ void link_edges() {
#pragma unroll 1
    for (int i = thread_; i < segments_; i += kThreads)
      set_follower(static_cast<unsigned>(i), over_edge(s_.segment[i]));
    sync();
  }

  /// The same where crossings may fall on samples. Most segments are far from such a sample even here; the
  /// others are dropped if of length zero, else linked by node.
  __device__ __forceinline__ void link_nodes() {
    const LevelTest<T> test(job_, place_.plane);
#pragma unroll 1
    for (int i = thread_; i < segments_; i += kThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      const Edge from = Base::edge_of(segment, segment.from);
      const Edge to = Base::edge_of(segment, segment.to);
      const bool by_edge = test.misses_samples(from.a, from.b) && test.misses_samples(to.a, to.b);
      set_follower(static_cast<unsigned>(i), by_edge ? over_edge(s_.segment[i]) : over_node(i, segment));
    }
    sync();
  }

  /// Index of the segment that follows segment i at its node.
  __device__ __forceinline__ unsigned over_node(int i, const TileSegment& segment) {
    const Vec to = point_of(segment, segment.to);
    if (same_point(point_of(segment, segment.from), to)) {
      s_.segment[i] = pack_segment(segment.row, segment.col, segment.sub, 0);
      return kNone;
    }
    const NodeKind node = node_of(to, segment.to);
    if (node == NodeKind::Edge) return over_edge(s_.segment[i]);
    if (node == NodeKind::None) return kNone;
    const AroundSample follower = follower_of(segment, to);
    const int row = static_cast<int>(to.row) - 1 + (follower.quadrant >> 1) - place_.row0;
    const int col = static_cast<int>(to.col) - 1 + (follower.quadrant & 1) - place_.col0;
    const bool inside =
        follower.quadrant >= 0 && row >= 0 && row < kTileRows && col >= 0 && col < kTileColumns;
    return inside ? segment_of(row * kTileColumns + col, follower.sub) : kNone;
  }

  /// Apart from the rest, so that this rare way takes nothing from the other.
  static __device__ __noinline__ void link_exact(const Job<P>& job, TileShared<Links>& shared,
                                                 TilePlace place, int segments) {
    TileTracer tracer(job, shared, place);
    tracer.segments_ = segments;
    tracer.link_nodes();
  }

  /// One round for a link. True if there is more to see of its chain.
  static __device__ __forceinline__ bool jump(typename Links::Word& own, const typename Links::Word* links,
                                              unsigned step) {
    const typename Links::Word other = links[Links::target(own)];
    const bool goes_on = !Links::has_end(own) && !Links::same_key(own, other);
    if (goes_on) own = Links::joined(own, other, step);
    return goes_on && !Links::has_end(own);
  }

  /// Pointer jumping: in round k a window is 2^k segments, or reaches the end of an open chain. A closed one
  /// has been seen when the window and the next have the same largest segment: they go round it.
  __device__ __forceinline__ void rank() {
    bool more = true;
    if constexpr (Links::kTwoArrays) {
      int round = 0;
      // An even number of rounds, so that the links end up where they began.
      for (; more || round % 2 != 0; ++round) {
        more = false;
        const auto* const from = s_.links.array(round);
        auto* const to = s_.links.array(round + 1);
#pragma unroll 1
        for (int i = thread_; i < segments_; i += kThreads) {
          auto own = from[i];
          more = jump(own, from, 1U << round) || more;
          to[i] = own;
        }
        more = sync_any(more);
        sync();
      }
    } else {
      typename Links::Word words[kEach];
      for (unsigned step = 1; more; step *= 2) {
        more = false;
#pragma unroll
        for (int k = 0; k < kEach; ++k) {
          const int i = thread_ + k * kThreads;
          if (i >= segments_) break;
          words[k] = s_.links.word[i];
          more = jump(words[k], s_.links.word, step) || more;
        }
        more = sync_any(more);
#pragma unroll
        for (int k = 0; k < kEach; ++k) {
          const int i = thread_ + k * kThreads;
          if (i >= segments_) break;
          s_.links.word[i] = words[k];
        }
        sync();
      }
    }
    for (int i = thread_; i < segments_; i += kThreads) {
      s_.links.smallest_of(static_cast<unsigned>(i)) = kNone;
      s_.largest[i] = 0;
    }
    sync();
  }

  /// Collects the smallest and largest segment of each piece at its representative.
  __device__ __forceinline__ void collect_pieces() {
#pragma unroll 1
    for (int base = 0; base < segments_; base += kThreads) {
      const int i = base + thread_;
      const auto index = static_cast<unsigned>(i);
      const bool valid = i < segments_ && !is_empty(index);
      Link link{};
      if (valid) link = s_.links.settled(index);
      const unsigned representative = link.key % kEndKey;
      const unsigned large = link.key >= kEndKey ? index << 13 | link.distance : link.distance;
      if constexpr (kThreads == 32) {
        // Mostly the warp's segments are of one or two pieces.
        const unsigned peers = peers_with(valid ? representative : kNone);
        const unsigned largest = highest_among(peers, large);
        if (!valid) continue;
        if ((peers & (~peers + 1)) == 1U << (thread_ % 32))
          atomicMin(&s_.links.smallest_of(representative), index);
        if (large == largest) atomicMax(&s_.largest[representative], large);
      } else if (valid) {
        atomicMin(&s_.links.smallest_of(representative), index);
        atomicMax(&s_.largest[representative], large);
      }
    }
    sync();
  }

  /// Every piece has one leader: the segment without a predecessor if open, the largest if closed. Lists
  /// them, and marks the first segment of each piece.
  __device__ __forceinline__ void find_leaders() {
#pragma unroll 1
    for (int base = 0; base < segments_; base += kThreads) {
      const int i = base + thread_;
      const auto index = static_cast<unsigned>(i);
      bool first = false;
      bool leads_open = false;
      bool leads_closed = false;
      bool dropped = false;
      if (i < segments_ && !is_empty(index)) {
        const Link link = s_.links.settled(index);
        const unsigned representative = link.key % kEndKey;
        const bool open = link.key >= kEndKey;
        // A contour of n segments has n + 1 points; here largest = n - 1.
        dropped = !open && s_.largest[representative] + 2 < job_.min_points;
        first = !dropped && s_.links.smallest_of(representative) == index;
        leads_open = open && s_.has_previous[i] == 0;
        leads_closed = !open && representative == index;
      }
      const unsigned word = __ballot_sync(~0U, first);
      if (thread_ % 32 == 0) s_.first[i / 32] = word;
      if (leads_open) s_.leader[atomicAdd(&s_.open, 1U)] = static_cast<unsigned short>(i);
      if (leads_closed)
        s_.leader[kCapacity - 1 - atomicAdd(&s_.closed, 1U)] =
            static_cast<unsigned short>(dropped ? index | kDropped : index);
    }
    const int words = (segments_ + kThreads - 1) / kThreads * (kThreads / 32);
    for (int i = words + thread_; i < Base::kWords; i += kThreads) s_.first[i] = 0;
    sync();
  }
  __device__ __forceinline__ bool is_empty(unsigned index) const {
    const unsigned short word = s_.segment[index];
    return (word >> 12 & 3) == word >> 14;
  }
};

}  // namespace contorno::contour_engine
