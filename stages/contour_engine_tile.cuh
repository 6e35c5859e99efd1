// The second step of a tile: segments, their followers, and the pieces of contours that they form.
//
// Reads   the tile's bits; the two samples of every crossed edge
// Writes  tile_pieces, row_pieces; points and places of its segments; pieces; active pieces and slots
//
// list of segments -> followers -> rank by pointer jumping in shared memory -> leaders (one a piece) ->
// places in the intermediate arrays -> records of pieces, points.
#pragma once

#include "stages/contour_engine_links.cuh"

namespace contorno::contour_engine {

/// One tile, seen by one thread of its block.
template <class T, class P, class Links, int kThreads>
class TileTracer {
 public:
  __device__ __forceinline__ TileTracer(const Job<P>& job, TileShared<Links>& shared, const TilePlace& place)
      : job_(job),
        s_(shared),
        place_(place),
        level_(job.level[place.plane % job.levels]),
        thread_(static_cast<int>(threadIdx.x)) {}

  /// Bits are there, and at least one segment, at most kCapacity.
  __device__ void run() {
    list_segments();
    if (s_.bits.unusual != 0)
      link_exact();
    else
      link_edges();
    rank();
    find_leaders();
    if (!reserve()) return;
    write_pieces();
    write_points();
  }

  /// Number of segments before each row, by the first warp. Ends with a barrier; returns all.
  __device__ int count_segments() {
    if (thread_ < 32) {
      const unsigned own =
          static_cast<unsigned>(__popcll(s_.bits.crossed[thread_]) + __popcll(s_.bits.saddle[thread_]));
      const unsigned sum = warp_scan(own);
      s_.before[thread_] = sum - own;
      if (thread_ == 31) s_.before[32] = sum;
    }
#pragma unroll
    for (int i = thread_; i < kWords; i += kThreads) {
      s_.has_previous[i] = 0;
      s_.first[i] = 0;
    }
    if (thread_ == 0) s_.open = s_.closed = 0;
    sync();
    segments_ = static_cast<int>(s_.before[kTileRows]);
    return segments_;
  }

 private:
  using Value = typename Sample<T>::Value;
  static constexpr unsigned kCapacity = Links::kCapacity;
  static constexpr int kWords = TileShared<Links>::kWords;
  static constexpr int kEach = (static_cast<int>(kCapacity) + kThreads - 1) / kThreads;

  /// A tile is the work of a block, or of a single warp.
  static __device__ __forceinline__ void sync() {
    if constexpr (kThreads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  static __device__ __forceinline__ bool sync_any(bool value) {
    if constexpr (kThreads == 32)
      return __any_sync(~0U, value ? 1 : 0) != 0;
    else
      return __syncthreads_or(value ? 1 : 0) != 0;
  }
  static __device__ __forceinline__ unsigned warp_scan(unsigned value) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const unsigned other = __shfl_up_sync(~0U, value, step);
      if (lane >= step) value += other;
    }
    return value;
  }
  __device__ __forceinline__ unsigned index_of(int row, int col, int sub) const {
    const unsigned long long below = (1ULL << col) - 1;
    return s_.before[row] + static_cast<unsigned>(__popcll(s_.bits.crossed[row] & below)) +
           static_cast<unsigned>(__popcll(s_.bits.saddle[row] & below)) + static_cast<unsigned>(sub);
  }
  __device__ __forceinline__ bool is_crossed(int row, int col) const {
    return row >= 0 && row < kTileRows && col >= 0 && col < kTileColumns &&
           (s_.bits.crossed[row] >> col & 1) != 0;
  }
  __device__ __forceinline__ int code_of(int row, int col) const {
    const auto pair = [&](int r) {
      const unsigned long long word = s_.bits.high[r];
      const unsigned right =
          col == kTileColumns - 1 ? s_.bits.high_last[r] : static_cast<unsigned>(word >> (col + 1)) & 1;
      return static_cast<int>((static_cast<unsigned>(word >> col) & 1) + 2 * right);
    };
    return pair(row) + 4 * pair(row + 1);
  }
  __device__ __forceinline__ Vec point_of(const TileSegment& segment, int side) const {
    return crossing_at<T>(job_.map, place_.plane, level_, place_.row0 + segment.row,
                          place_.col0 + segment.col, side);
  }
  __device__ __forceinline__ unsigned raster_id(unsigned index) const {
    const TileSegment segment = unpack_segment(s_.segment[index]);
    return 2U * (static_cast<unsigned>(place_.row0 + segment.row) * static_cast<unsigned>(job_.cell_columns) +
                 static_cast<unsigned>(place_.col0 + segment.col)) +
           static_cast<unsigned>(segment.sub);
  }

  /// A thread takes a part of a row, or rows.
  __device__ void list_segments() {
    constexpr int kParts = kThreads >= 8 * kTileRows ? 8 : kThreads / kTileRows;
    constexpr int kCells = kTileColumns / kParts;
    if (thread_ < kParts * kTileRows) {
      const int row = thread_ / kParts;
      const int shift = thread_ % kParts * kCells;
      unsigned long long cells = s_.bits.crossed[row] >> shift & (~0ULL >> (64 - kCells));
      unsigned index = index_of(row, shift, 0);
      for (; cells != 0; cells &= cells - 1) {
        const int col = shift + __ffsll(static_cast<long long>(cells)) - 1;
        const int code = code_of(row, col);
        s_.segment[index++] = pack_segment(row, col, 0, sides_of(code, 0, job_.connect_high));
        if (is_saddle(code))
          s_.segment[index++] = pack_segment(row, col, 1, sides_of(code, 1, job_.connect_high));
      }
    }
    sync();
  }

  /// Index of the segment behind the edge where `segment` ends, kNone if that cell is not of this tile.
  __device__ __forceinline__ unsigned over_edge(const TileSegment& segment) const {
    const int row = segment.row + (segment.to == kBottom ? 1 : (segment.to == kTop ? -1 : 0));
    const int col = segment.col + (segment.to == kRight ? 1 : (segment.to == kLeft ? -1 : 0));
    if (!is_crossed(row, col)) return kNone;
    return index_of(row, col, sub_from(code_of(row, col), segment.to ^ 2, job_.connect_high));
  }

  __device__ __forceinline__ void set_follower(unsigned index, unsigned next) {
    if (next != kNone) atomicOr(&s_.has_previous[next / 32], 1U << (next % 32));
    s_.links.word[index] =
        Links::pack({next == kNone ? 0 : next, next == kNone ? index + kCapacity : index, 0});
  }

  __device__ void link_edges() {
    for (int i = thread_; i < segments_; i += kThreads)
      set_follower(static_cast<unsigned>(i), over_edge(unpack_segment(s_.segment[i])));
    sync();
  }

  /// The same where crossings may fall on samples: drop segments of length zero first, then link by node.
  __device__ __noinline__ void link_exact() {
    for (int i = thread_; i < segments_; i += kThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      if (same_point(point_of(segment, segment.from), point_of(segment, segment.to)))
        s_.segment[i] = pack_segment(segment.row, segment.col, segment.sub, 0);
    }
    sync();
    for (int i = thread_; i < segments_; i += kThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      unsigned next = kNone;
      if (segment.from != segment.to) {
        const Vec to = point_of(segment, segment.to);
        const NodeKind node = node_of(to, segment.to);
        if (node == NodeKind::Edge) next = over_edge(segment);
        if (node == NodeKind::Sample) {
          const AroundSample follower = follower_of(segment, to);
          const int row = static_cast<int>(to.row) - 1 + (follower.quadrant >> 1) - place_.row0;
          const int col = static_cast<int>(to.col) - 1 + (follower.quadrant & 1) - place_.col0;
          if (follower.quadrant >= 0 && is_crossed(row, col)) next = index_of(row, col, follower.sub);
        }
      }
      set_follower(static_cast<unsigned>(i), next);
    }
    sync();
  }

  __device__ __forceinline__ AroundSample follower_of(const TileSegment& segment, const Vec& sample) const {
    const int row = static_cast<int>(sample.row);
    const int col = static_cast<int>(sample.col);
    const int quadrant = 2 * (place_.row0 + segment.row - row + 1) + (place_.col0 + segment.col - col + 1);
    return follower_at_sample<T>(job_.map, place_.plane, level_, job_.connect_high, row, col,
                                 {quadrant, segment.sub});
  }

  /// Pointer jumping until no window's largest key grows: then all windows of a closed piece agree, and those
  /// of an open one have reached its end. In round k a window is 2^k segments, or reaches the end.
  __device__ void rank() {
    typename Links::Word words[kEach];
    for (unsigned step = 1;; step *= 2) {
      bool changed = false;
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        const int i = thread_ + k * kThreads;
        if (i >= segments_) break;
        words[k] = s_.links.word[i];
        Link own = Links::unpack(words[k]);
        if (own.key >= kCapacity) continue;
        const Link other = Links::unpack(s_.links.word[own.target]);
        if (other.key > own.key) {
          own.key = other.key;
          own.distance = step + other.distance;
          changed = true;
        }
        own.target = other.target;
        words[k] = Links::pack(own);
      }
      if (!sync_any(changed)) break;
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        const int i = thread_ + k * kThreads;
        if (i >= segments_) break;
        s_.links.word[i] = words[k];
      }
      sync();
    }
    for (int i = thread_; i < segments_; i += kThreads) {
      s_.links.smallest_of(static_cast<unsigned>(i)) = kNone;
      s_.largest[i] = 0;
    }
    sync();
  }

  /// Every piece has one leader: the segment without a predecessor if open, the largest if closed. Lists
  /// them, and collects the smallest and largest segment of each piece at its representative.
  __device__ void find_leaders() {
    for (int base = 0; base < segments_; base += kThreads) {
      const int i = base + thread_;
      const unsigned index = static_cast<unsigned>(i);
      bool leads_open = false;
      bool leads_closed = false;
      if (i < segments_ && !is_empty(index)) {
        const Link link = s_.links.settled(static_cast<unsigned>(i));
        const unsigned representative = link.key % kCapacity;
        atomicMin(&s_.links.smallest_of(representative), index);
        if (link.key >= kCapacity) {
          atomicMax(&s_.largest[representative], index << 13 | link.distance);
          leads_open = (s_.has_previous[index / 32] >> (index % 32) & 1) == 0;
        } else {
          atomicMax(&s_.largest[representative], link.distance);
          leads_closed = representative == index;
        }
      }
      if (leads_open) s_.leader[atomicAdd(&s_.open, 1U)] = static_cast<unsigned short>(i);
      if (leads_closed) s_.leader[kCapacity - 1 - atomicAdd(&s_.closed, 1U)] = static_cast<unsigned short>(i);
    }
    sync();
    for_leaders([&](unsigned place, bool open) {
      const unsigned representative = s_.links.settled(s_.leader[place]).key % kCapacity;
      // A contour of n segments has n + 1 points; here largest = n - 1.
      if (!open && s_.largest[representative] + 2 < job_.min_points) {
        s_.leader[place] |= kDropped;
        return;
      }
      const unsigned first = s_.links.smallest_of(representative);
      atomicOr(&s_.first[first / 32], 1U << (first % 32));
    });
    sync();
  }
  __device__ __forceinline__ bool is_empty(unsigned index) const {
    const unsigned short word = s_.segment[index];
    return (word >> 12 & 3) == word >> 14;
  }
  template <class Use>
  __device__ __forceinline__ void for_leaders(const Use& use) {
    const unsigned open = s_.open;
    const unsigned all = open + s_.closed;
    for (unsigned k = static_cast<unsigned>(thread_); k < all; k += kThreads)
      use(k < open ? k : kCapacity - 1 - (k - open), k < open);
  }

  /// Places in the intermediate arrays. False when they are full: the tile then writes nothing more.
  __device__ bool reserve() {
    if (thread_ < 32) {
      constexpr int kLaneWords = (kWords + 31) / 32;
      const int word0 = thread_ * kLaneWords;
      unsigned own = 0;
#pragma unroll
      for (int k = 0; k < kLaneWords; ++k)
        if (word0 + k < kWords) own += static_cast<unsigned>(__popc(s_.first[word0 + k]));
      const unsigned sum = warp_scan(own);
      unsigned running = sum - own;
#pragma unroll
      for (int k = 0; k < kLaneWords; ++k)
        if (word0 + k < kWords) {
          s_.first_before[word0 + k] = running;
          running += static_cast<unsigned>(__popc(s_.first[word0 + k]));
        }
      if (thread_ == 31) {
        Counters& counters = *job_.work.counters;
        const unsigned long long both = atomicAdd(reinterpret_cast<unsigned long long*>(&counters.pieces),
                                                  sum | static_cast<unsigned long long>(s_.open) << 32);
        s_.segment_base = atomicAdd(&counters.segments, static_cast<unsigned>(segments_));
        s_.piece_base = static_cast<unsigned>(both);
        s_.active_base = static_cast<unsigned>(both >> 32);
        s_.pieces = sum;
      }
    }
    sync();
    const bool fits = s_.segment_base + static_cast<unsigned>(segments_) <= job_.segment_capacity &&
                      s_.piece_base + s_.pieces <= job_.piece_capacity;
    if (thread_ == 0) job_.work.tile_pieces[place_.tile] = {s_.piece_base, fits ? s_.pieces : 0};
    if (fits) {
      unsigned short* const rows =
          job_.work.row_pieces + static_cast<std::size_t>(place_.tile) * (kTileRows + 1);
      for (int row = thread_; row <= kTileRows; row += kThreads) {
        const unsigned index = s_.before[row];
        rows[row] = static_cast<unsigned short>(index < static_cast<unsigned>(segments_) ? first_rank(index)
                                                                                         : s_.pieces);
      }
    }
    return fits;
  }
  __device__ __forceinline__ unsigned first_rank(unsigned index) const {
    return s_.first_before[index / 32] +
           static_cast<unsigned>(__popc(s_.first[index / 32] & ((1U << (index % 32)) - 1)));
  }

  /// Records of all pieces. At the representatives `smallest` becomes (rank of the piece | length << 16).
  __device__ void write_pieces() {
    for_leaders([&](unsigned entry, bool open) {
      const unsigned leader = s_.leader[entry] & (kDropped - 1);
      const Link link = s_.links.settled(leader);
      const unsigned representative = link.key % kCapacity;
      unsigned& smallest = s_.links.smallest_of(representative);
      const unsigned first = smallest;
      const unsigned count = 1 + (open ? link.distance : s_.largest[representative]);
      if ((s_.leader[entry] & kDropped) != 0) {
        smallest = 0xFFFFU;
        return;
      }
      const unsigned rank = first_rank(first);
      const unsigned piece = s_.piece_base + rank;
      smallest = rank | count << 16;
      if (!open) {
        job_.work.head_points[piece] = (count + 1) | 1U << 31;
        job_.work.pieces[piece] = {0, count | 1U << 31, piece, 0};
        return;
      }
      const unsigned active = s_.active_base + entry;
      const unsigned largest = s_.largest[representative];
      const TileSegment segment = unpack_segment(s_.segment[leader]);
      const Vec from = point_of(segment, segment.from);
      store_point(job_.work.from[piece], from);
      job_.work.active[active] = {count, raster_id(largest >> 13), count - 1 - (largest & 0x1FFF),
                                  exit_slot(unpack_segment(s_.segment[representative]))};
      job_.work.active_first[active] = {raster_id(first), piece};
      const unsigned slot = entry_slot(segment, from);
      if (slot != kNone) job_.work.slots[slot] = active;
    });
    sync();
  }

  /// Slot in which the follower of an open piece, which ends with `last`, stands; kNone: nothing follows.
  __device__ unsigned exit_slot(const TileSegment& last) const {
    const int row = place_.row0 + last.row;
    const int col = place_.col0 + last.col;
    const int side = last.to;
    if (s_.bits.unusual != 0) {
      const Vec to = point_of(last, side);
      const NodeKind node = node_of(to, side);
      if (node == NodeKind::None) return kNone;
      if (node == NodeKind::Sample) {
        const AroundSample follower = follower_of(last, to);
        if (follower.quadrant < 0) return kNone;
        return slot_of_sample(job_, place_.plane, static_cast<int>(to.row), static_cast<int>(to.col),
                              follower.quadrant);
      }
    }
    const unsigned slot = slot_of_edge(job_, place_.plane, row, col, side);
    if (slot != kNone && (Sample<T>::kMayBeNan || job_.map.mask != nullptr)) {
      // The cell behind the edge is crossed, unless one of its other two samples does not count.
      const int r = row + (side == kBottom ? 2 : (side == kTop ? -1 : 0));
      const int c = col + (side == kRight ? 2 : (side == kLeft ? -1 : 0));
      const bool across = side == kTop || side == kBottom;
      const int r2 = r + (across ? 0 : 1);
      const int c2 = c + (across ? 1 : 0);
      const Value a = read_sample<T>(job_.map, place_.plane, r, c);
      const Value b = read_sample<T>(job_.map, place_.plane, r2, c2);
      if (!(a == a && b == b) || is_masked(job_.map, r, c) || is_masked(job_.map, r2, c2)) return kNone;
    }
    return slot;
  }

  /// Slot in which a predecessor in another tile looks for the piece that begins with `first` at `from`.
  __device__ unsigned entry_slot(const TileSegment& first, const Vec& from) const {
    const int row = place_.row0 + first.row;
    const int col = place_.col0 + first.col;
    if (s_.bits.unusual != 0) {
      const NodeKind node = node_of(from, first.from);
      if (node == NodeKind::None) return kNone;
      if (node == NodeKind::Sample) {
        const int r = static_cast<int>(from.row);
        const int c = static_cast<int>(from.col);
        return slot_of_sample(job_, place_.plane, r, c, 2 * (row - r + 1) + (col - c + 1));
      }
    }
    return slot_of_edge(job_, place_.plane, row, col, first.from);
  }

  __device__ void write_points() {
    for (int i = thread_; i < segments_; i += kThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      const std::size_t at = s_.segment_base + static_cast<std::size_t>(i);
      uint2 place = {kNone, 0};
      if (segment.from != segment.to) {
        const Link link = s_.links.settled(static_cast<unsigned>(i));
        const unsigned word = s_.links.smallest_of(link.key % kCapacity);
        const unsigned count = word >> 16;
        if ((word & 0xFFFFU) != 0xFFFFU) {
          // An open piece is ranked by the steps to its end, a closed one by those to its largest segment.
          place.x = s_.piece_base + (word & 0xFFFFU);
          place.y = link.key >= kCapacity ? count - 1 - link.distance
                                          : (link.distance == 0 ? 0 : count - link.distance);
          store_point(job_.work.points[at], point_of(segment, segment.to));
        }
      }
      job_.work.places[at] = place;
    }
  }

  const Job<P>& job_;
  TileShared<Links>& s_;
  const TilePlace place_;
  const double level_;
  const int thread_;
  int segments_ = 0;
};

}  // namespace contorno::contour_engine
