// trace_tiles: one block a tile of 64 x 32 cells of one plane.
//
// Reads   every sample of the tile once (65 x 33), those of crossed edges again (from the cache)
// Writes  tile_pieces for every tile; for tiles with segments points, places, pieces, active pieces, slots
// Shared  51 KiB: 4 blocks a multiprocessor
//
// Steps: bits of high samples -> crossed cells and their number -> list of segments -> followers -> ranks by
// pointer jumping -> pieces. Samples that are not a number, masked, or so close to the level that a crossing
// could fall exactly on a sample make the tile `unusual`: then the followers come from exact points.
#pragma once

#include "stages/contour_engine_nodes.cuh"

namespace contorno::contour_engine {

inline constexpr int kSegmentsAThread = kTileSegments / kTileThreads;
inline constexpr int kTileBlocks = 4;  ///< on a multiprocessor at the same time
inline constexpr int kTileWarps = kTileThreads / 32;
inline constexpr int kTileWords = kTileSegments / 32;
inline constexpr unsigned short kNoFollower = 0xFFFF;
inline constexpr unsigned short kInside = 0xFFFF;   ///< leader of a finished contour (in `next`)
inline constexpr unsigned short kDropped = 0xFFFE;  ///< leader of a finished contour below min_points

inline constexpr unsigned long long kRepresentative = 1ULL << 63;
inline constexpr unsigned long long kOpenEnd = 1ULL << 62;

struct TileShared {
  unsigned long long link[kTileSegments];  ///< Link; at representatives at last rank and count of the piece
  unsigned short segment[kTileSegments];   ///< see pack_segment
  unsigned short next[kTileSegments];      ///< follower; later, at leaders, the place among active pieces
  unsigned long long high[kTileRows + 1], valid[kTileRows + 1];  ///< columns 0..63
  unsigned high_last[kTileRows + 1], valid_last[kTileRows + 1];  ///< column 64
  unsigned long long crossed[kTileRows], saddle[kTileRows];
  unsigned before[kTileRows + 1];  ///< segments in the rows above
  unsigned has_previous[kTileWords];
  unsigned leader[kTileWords];  ///< bit: this segment writes its piece's record
  unsigned first[kTileWords];  ///< bit: this segment is the first (in raster order) of a piece
  unsigned first_before[kTileWords];
  unsigned active, segment_base, piece_base, active_base, pieces;
};

/// A segment as it stands in the list: sides, number in the cell, cell. from == to marks a segment of length
/// zero, which takes no part.
struct TileSegment {
  int row, col, sub, from, to;
};
__device__ __forceinline__ unsigned short pack_segment(int row, int col, int sub, int sides) {
  return static_cast<unsigned short>(col | row << 6 | sub << 11 | sides << 12);
}
__device__ __forceinline__ TileSegment unpack_segment(unsigned short word) {
  return {(word >> 6) & 31, word & 63, (word >> 11) & 1, (word >> 12) & 3, word >> 14};
}

/// What pointer jumping knows of a segment and those after it, up to `target` (not with it, unless ended).
struct Link {
  unsigned target, largest, to_largest, smallest, length;
  bool ended;  ///< target is the open end, which is included; length counts the steps to it
};
__device__ __forceinline__ unsigned long long pack_link(const Link& l) {
  return static_cast<unsigned long long>(l.target) | static_cast<unsigned long long>(l.largest) << 12 |
         static_cast<unsigned long long>(l.to_largest) << 24 |
         static_cast<unsigned long long>(l.smallest) << 36 |
         static_cast<unsigned long long>(l.length & 0x3FFF) << 48 |
         static_cast<unsigned long long>(l.ended ? 1 : 0) << 62;
}
__device__ __forceinline__ Link unpack_link(unsigned long long w) {
  return {static_cast<unsigned>(w) & 4095U,         static_cast<unsigned>(w >> 12) & 4095U,
          static_cast<unsigned>(w >> 24) & 4095U,   static_cast<unsigned>(w >> 36) & 4095U,
          static_cast<unsigned>(w >> 48) & 0x3FFFU, (w >> 62 & 1) != 0};
}

/// One tile, one thread of its block.
template <class T, class P>
class TileTracer {
 public:
  __device__ TileTracer(const Job<P>& job, TileShared& shared)
      : job_(job), s_(shared), thread_(static_cast<int>(threadIdx.x)), tile_(static_cast<int>(blockIdx.x)) {
    const int tiles = job.tiles_x * job.tiles_y;
    // Interleaved classes lie side by side: their tiles run together, so that lines are read once.
    const bool interleaved = job.map.plane_pitch < job.map.row_pitch;
    plane_ = interleaved ? tile_ % job.planes : tile_ / tiles;
    const int place = interleaved ? tile_ / job.planes : tile_ % tiles;
    tile_ = plane_ * tiles + place;
    row0_ = place / job.tiles_x * kTileRows;
    col0_ = place % job.tiles_x * kTileColumns;
    rows_ = min(kTileRows, job.cell_rows - row0_);
    level_ = job.level[plane_ % job.levels];
  }

  __device__ void run() {
    const bool unusual = read_samples();
    count_segments();
    segments_ = static_cast<int>(s_.before[kTileRows]);
    if (segments_ == 0) {
      if (thread_ == 0) job_.work.tile_pieces[tile_] = {0, 0};
      return;
    }
    list_segments();
    if (unusual)
      link_exact();
    else
      link_edges();
    rank();
    find_leaders(unusual);
    if (!reserve()) return;
    write_pieces(unusual);
    write_points();
  }

 private:
  using Value = typename Sample<T>::Value;

  __device__ __forceinline__ unsigned index_of(int row, int col, int sub) const {
    const unsigned long long below = (1ULL << col) - 1;
    return s_.before[row] + static_cast<unsigned>(__popcll(s_.crossed[row] & below)) +
           static_cast<unsigned>(__popcll(s_.saddle[row] & below)) + static_cast<unsigned>(sub);
  }
  __device__ __forceinline__ bool is_crossed(int row, int col) const {
    return row >= 0 && row < kTileRows && col >= 0 && col < kTileColumns && (s_.crossed[row] >> col & 1) != 0;
  }
  __device__ __forceinline__ int code_of(int row, int col) const {
    const auto pair = [&](int r) {
      const int left = static_cast<int>(s_.high[r] >> col & 1);
      const int right =
          col == kTileColumns - 1 ? static_cast<int>(s_.high_last[r]) : static_cast<int>(s_.high[r] >> (col + 1) & 1);
      return left + 2 * right;
    };
    return pair(row) + 4 * pair(row + 1);
  }
  __device__ __forceinline__ Vec point_of(const TileSegment& segment, int side) const {
    return crossing_at<T>(job_.map, plane_, level_, row0_ + segment.row, col0_ + segment.col, side);
  }
  __device__ __forceinline__ unsigned raster_id(unsigned index) const {
    const TileSegment segment = unpack_segment(s_.segment[index]);
    return 2U * (static_cast<unsigned>(row0_ + segment.row) * static_cast<unsigned>(job_.cell_columns) +
                 static_cast<unsigned>(col0_ + segment.col)) +
           static_cast<unsigned>(segment.sub);
  }

  /// Fills high and valid. Whether any sample of the tile is not finite, masked or close to the level.
  __device__ bool read_samples() {
    const Value threshold = threshold_of(level_, Value{});
    // A crossing can only fall on a sample if |level - a| < 2^-36 |b - a| (rows and columns are below 2^16).
    // With all |samples| below 2^16 m that needs |level - a| < 2^-19 m.
    const double magnitude = fmax(fabs(level_), 1.0);
    const Value near = static_cast<Value>(magnitude * 0x1p-18);
    const Value large = static_cast<Value>(magnitude * 0x1p16);
    const Value centre = static_cast<Value>(level_);
    constexpr int kSteps = (kTileRows + kTileWarps) / kTileWarps;
    const int lane = thread_ % 32;
    const int warp = thread_ / 32;
    Value value[kSteps][3];
    bool used[kSteps][3];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int row = row0_ + warp + step * kTileWarps;
#pragma unroll
      for (int part = 0; part < 3; ++part) {
        if (warp + step * kTileWarps > rows_) break;
        const int col = min(col0_ + part * 32 + (part < 2 ? lane : 0), job_.map.width - 1);
        value[step][part] = read_sample<T>(job_.map, plane_, row, col);
        used[step][part] = job_.map.mask == nullptr || !is_masked(job_.map, row, col);
      }
    }
    bool unusual = false;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int row = warp + step * kTileWarps;
      if (row > rows_) break;
      unsigned high[3];
      unsigned valid[3];
#pragma unroll
      for (int part = 0; part < 3; ++part) {
        const Value v = value[step][part];
        high[part] = __ballot_sync(~0U, v > threshold);
        unusual |= !(fabs(v - centre) > near && fabs(v) < large) || !used[step][part];
        valid[part] = __ballot_sync(~0U, v == v && used[step][part]);
      }
      if (lane == 0) {
        s_.high[row] = high[0] | static_cast<unsigned long long>(high[1]) << 32;
        s_.valid[row] = valid[0] | static_cast<unsigned long long>(valid[1]) << 32;
        s_.high_last[row] = high[2] & 1;
        s_.valid_last[row] = valid[2] & 1;
      }
    }
    return __syncthreads_or(unusual ? 1 : 0) != 0;
  }

  /// Crossed cells, saddles, and segments before each row; one warp, a lane a row.
  __device__ void count_segments() {
    if (thread_ < 32) {
      const int row = thread_;
      unsigned long long crossed = 0;
      unsigned long long saddle = 0;
      if (row < rows_) {
        const auto right = [](unsigned long long word, unsigned last) {
          return word >> 1 | static_cast<unsigned long long>(last) << 63;
        };
        const unsigned long long ul = s_.high[row];
        const unsigned long long ur = right(ul, s_.high_last[row]);
        const unsigned long long ll = s_.high[row + 1];
        const unsigned long long lr = right(ll, s_.high_last[row + 1]);
        const unsigned long long valid = s_.valid[row] & right(s_.valid[row], s_.valid_last[row]) &
                                         s_.valid[row + 1] & right(s_.valid[row + 1], s_.valid_last[row + 1]);
        const int columns = min(kTileColumns, job_.cell_columns - col0_);
        crossed = ((ul | ur | ll | lr) & ~(ul & ur & ll & lr)) & valid & (~0ULL >> (64 - columns));
        saddle = (ul ^ ur) & (ll ^ lr) & (ul ^ ll) & crossed;
      }
      const unsigned own = static_cast<unsigned>(__popcll(crossed) + __popcll(saddle));
      unsigned sum = own;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(~0U, sum, step);
        if (row >= step) sum += other;
      }
      s_.crossed[row] = crossed;
      s_.saddle[row] = saddle;
      s_.before[row] = sum - own;
      if (row == 31) s_.before[32] = sum;
    }
    if (thread_ < kTileWords) {
      s_.has_previous[thread_] = 0;
      s_.first[thread_] = 0;
    }
    if (thread_ == 0) s_.active = 0;
    __syncthreads();
  }

  /// A thread takes eight cells of a row.
  __device__ void list_segments() {
    const int row = thread_ / 8;
    const int shift = thread_ % 8 * 8;
    unsigned bits = static_cast<unsigned>(s_.crossed[row] >> shift) & 0xFF;
    if (bits != 0) {
      unsigned index = index_of(row, shift, 0);
      for (; bits != 0; bits &= bits - 1) {
        const int col = shift + __ffs(static_cast<int>(bits)) - 1;
        const int code = code_of(row, col);
        s_.segment[index] = pack_segment(row, col, 0, sides_of(code, 0, job_.connect_high));
        ++index;
        if (is_saddle(code)) {
          s_.segment[index] = pack_segment(row, col, 1, sides_of(code, 1, job_.connect_high));
          ++index;
        }
      }
    }
    __syncthreads();
  }

  /// Index of the segment behind the edge on side `to` of a cell, kNoFollower if that cell is not of this tile.
  __device__ __forceinline__ unsigned short over_edge(const TileSegment& segment) const {
    const int row = segment.row + (segment.to == kBottom ? 1 : (segment.to == kTop ? -1 : 0));
    const int col = segment.col + (segment.to == kRight ? 1 : (segment.to == kLeft ? -1 : 0));
    if (!is_crossed(row, col)) return kNoFollower;
    const int sub = sub_from(code_of(row, col), segment.to ^ 2, job_.connect_high);
    return static_cast<unsigned short>(index_of(row, col, sub));
  }

  __device__ __forceinline__ void set_follower(unsigned index, unsigned short next) {
    s_.next[index] = next;
    const bool ended = next == kNoFollower;
    if (!ended) atomicOr(&s_.has_previous[next / 32], 1U << (next % 32));
    s_.link[index] = pack_link({ended ? index : next, index, 0, index, ended ? 0U : 1U, ended});
  }

  __device__ void link_edges() {
    for (int i = thread_; i < segments_; i += kTileThreads)
      set_follower(static_cast<unsigned>(i), over_edge(unpack_segment(s_.segment[i])));
    __syncthreads();
  }

  /// The same where crossings may fall on samples: drop segments of length zero first, then link by node.
  __device__ void link_exact() {
    for (int i = thread_; i < segments_; i += kTileThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      if (same_point(point_of(segment, segment.from), point_of(segment, segment.to)))
        s_.segment[i] = pack_segment(segment.row, segment.col, segment.sub, 0);
    }
    __syncthreads();
    for (int i = thread_; i < segments_; i += kTileThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      unsigned short next = kNoFollower;
      if (segment.from != segment.to) {
        const Vec to = point_of(segment, segment.to);
        switch (node_of(to, segment.to)) {
          case NodeKind::None:
            break;
          case NodeKind::Edge:
            next = over_edge(segment);
            break;
          case NodeKind::Sample: {
            const AroundSample follower = follower_of(segment, to);
            const int row = static_cast<int>(to.row) - 1 + (follower.quadrant >> 1) - row0_;
            const int col = static_cast<int>(to.col) - 1 + (follower.quadrant & 1) - col0_;
            if (follower.quadrant >= 0 && is_crossed(row, col))
              next = static_cast<unsigned short>(index_of(row, col, follower.sub));
            break;
          }
        }
      }
      set_follower(static_cast<unsigned>(i), next);
    }
    __syncthreads();
  }

  __device__ __forceinline__ AroundSample follower_of(const TileSegment& segment, const Vec& sample) const {
    const int row = static_cast<int>(sample.row);
    const int col = static_cast<int>(sample.col);
    const int quadrant = 2 * (row0_ + segment.row - row + 1) + (col0_ + segment.col - col + 1);
    return follower_at_sample<T>(job_.map, plane_, level_, job_.connect_high, row, col, {quadrant, segment.sub});
  }

  /// Pointer jumping until nothing changes. If neither the largest nor the smallest index of any window grew,
  /// the windows of a closed piece all agree, and those of an open one have reached its end.
  __device__ void rank() {
    unsigned long long links[kSegmentsAThread];
    for (;;) {
      bool changed = false;
#pragma unroll
      for (int k = 0; k < kSegmentsAThread; ++k) {
        const int i = thread_ + k * kTileThreads;
        if (i >= segments_) break;
        const Link own = unpack_link(s_.link[i]);
        if (own.ended) {
          links[k] = pack_link(own);
          continue;
        }
        const Link other = unpack_link(s_.link[own.target]);
        Link joined = own;
        if (other.largest > own.largest) {
          joined.largest = other.largest;
          joined.to_largest = own.length + other.to_largest;
          changed = true;
        }
        if (other.smallest < own.smallest) {
          joined.smallest = other.smallest;
          changed = true;
        }
        joined.target = other.target;
        joined.length = own.length + other.length;
        joined.ended = other.ended;
        changed |= other.ended;
        links[k] = pack_link(joined);
      }
      if (__syncthreads_or(changed ? 1 : 0) == 0) break;
#pragma unroll
      for (int k = 0; k < kSegmentsAThread; ++k) {
        const int i = thread_ + k * kTileThreads;
        if (i >= segments_) break;
        s_.link[i] = links[k];
      }
      __syncthreads();
    }
  }

  /// Every piece has one leader: the segment without a predecessor if open, the largest if closed.
  __device__ __forceinline__ bool is_leader(unsigned index, const Link& link) const {
    if (!link.ended) return link.largest == index;
    if ((s_.has_previous[index / 32] >> (index % 32) & 1) != 0) return false;
    const TileSegment segment = unpack_segment(s_.segment[index]);
    return segment.from != segment.to;
  }
  __device__ __forceinline__ unsigned representative(const Link& link) const {
    return link.ended ? link.target : link.largest;
  }

  /// Slot in which the piece's follower in another tile stands; kNone: the piece ends here.
  __device__ unsigned exit_slot(unsigned last, bool unusual) const {
    const TileSegment segment = unpack_segment(s_.segment[last]);
    const int row = row0_ + segment.row;
    const int col = col0_ + segment.col;
    if (unusual) {
      const Vec to = point_of(segment, segment.to);
      switch (node_of(to, segment.to)) {
        case NodeKind::None:
          return kNone;
        case NodeKind::Edge:
          break;
        case NodeKind::Sample: {
          const AroundSample follower = follower_of(segment, to);
          if (follower.quadrant < 0) return kNone;
          return slot_of_sample(job_, plane_, static_cast<int>(to.row), static_cast<int>(to.col),
                                follower.quadrant);
        }
      }
    }
    const unsigned slot = slot_of_edge(job_, plane_, row, col, segment.to);
    if (slot != kNone && (Sample<T>::kMayBeNan || job_.map.mask != nullptr)) {
      // The cell behind the edge is crossed, unless one of its other two samples does not count.
      const int side = segment.to;
      const int r = row + (side == kBottom ? 2 : (side == kTop ? -1 : 0));
      const int c = col + (side == kRight ? 2 : (side == kLeft ? -1 : 0));
      const bool across = side == kTop || side == kBottom;
      const int r2 = r + (across ? 0 : 1);
      const int c2 = c + (across ? 1 : 0);
      const Value a = read_sample<T>(job_.map, plane_, r, c);
      const Value b = read_sample<T>(job_.map, plane_, r2, c2);
      if (!(a == a && b == b) || is_masked(job_.map, r, c) || is_masked(job_.map, r2, c2)) return kNone;
    }
    return slot;
  }

  /// Slot in which a predecessor in another tile would look for the piece that begins with `first`.
  __device__ unsigned entry_slot(unsigned first, bool unusual) const {
    const TileSegment segment = unpack_segment(s_.segment[first]);
    const int row = row0_ + segment.row;
    const int col = col0_ + segment.col;
    if (unusual) {
      const Vec from = point_of(segment, segment.from);
      switch (node_of(from, segment.from)) {
        case NodeKind::None:
          return kNone;
        case NodeKind::Edge:
          break;
        case NodeKind::Sample: {
          const int r = static_cast<int>(from.row);
          const int c = static_cast<int>(from.col);
          return slot_of_sample(job_, plane_, r, c, 2 * (row - r + 1) + (col - c + 1));
        }
      }
    }
    return slot_of_edge(job_, plane_, row, col, segment.from);
  }

  /// Sets `leader` and `first`; at leaders leaves the place in `next` and n - 1 in the link's length.
  __device__ void find_leaders(bool unusual) {
    for (int base = 0; base < segments_; base += kTileThreads) {
      const int i = base + thread_;
      const unsigned index = static_cast<unsigned>(i);
      bool leads = false;
      if (i < segments_) {
        Link link = unpack_link(s_.link[i]);
        leads = is_leader(index, link);
        if (leads) {
          unsigned short place = kInside;
          if (link.ended) {
            if (exit_slot(link.target, unusual) != kNone || entry_slot(index, unusual) != kNone)
              place = static_cast<unsigned short>(atomicAdd(&s_.active, 1U));
          } else {
            link.length = unpack_link(s_.link[s_.next[i]]).to_largest;
            s_.link[i] = pack_link(link);
          }
          // A contour of n segments has n + 1 points, open or closed.
          if (place == kInside && link.length + 2 < job_.min_points) place = kDropped;
          if (place != kDropped) atomicOr(&s_.first[link.smallest / 32], 1U << (link.smallest % 32));
          s_.next[i] = place;
        }
      }
      const unsigned leaders = __ballot_sync(~0U, leads);
      if (thread_ % 32 == 0 && index / 32 < kTileWords) s_.leader[index / 32] = leaders;
    }
    __syncthreads();
  }

  /// Places in the intermediate arrays. False when they are full: the tile then writes nothing more.
  __device__ bool reserve() {
    if (thread_ < 32) {
      constexpr int kWords = kTileWords / 32;
      unsigned own = 0;
#pragma unroll
      for (int k = 0; k < kWords; ++k) own += static_cast<unsigned>(__popc(s_.first[thread_ * kWords + k]));
      unsigned sum = own;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(~0U, sum, step);
        if (thread_ >= step) sum += other;
      }
      unsigned running = sum - own;
#pragma unroll
      for (int k = 0; k < kWords; ++k) {
        s_.first_before[thread_ * kWords + k] = running;
        running += static_cast<unsigned>(__popc(s_.first[thread_ * kWords + k]));
      }
      if (thread_ == 31) {
        Counters& counters = *job_.work.counters;
        const unsigned long long both = atomicAdd(reinterpret_cast<unsigned long long*>(&counters.pieces),
                                                  sum | static_cast<unsigned long long>(s_.active) << 32);
        s_.segment_base = atomicAdd(&counters.segments, static_cast<unsigned>(segments_));
        s_.piece_base = static_cast<unsigned>(both);
        s_.active_base = static_cast<unsigned>(both >> 32);
        s_.pieces = sum;
      }
    }
    __syncthreads();
    const bool fits = s_.segment_base + static_cast<unsigned>(segments_) <= job_.segment_capacity &&
                      s_.piece_base + s_.pieces <= job_.piece_capacity;
    if (thread_ == 0) job_.work.tile_pieces[tile_] = {s_.piece_base, fits ? s_.pieces : 0};
    return fits;
  }

  __device__ __forceinline__ unsigned first_rank(unsigned index) const {
    return s_.first_before[index / 32] +
           static_cast<unsigned>(__popc(s_.first[index / 32] & ((1U << (index % 32)) - 1)));
  }

  /// Writes the records of all pieces; leaves rank and count at their representatives' links.
  __device__ void write_pieces(bool unusual) {
    if (thread_ <= kTileRows) {
      const unsigned index = s_.before[thread_];
      job_.work.row_pieces[static_cast<std::size_t>(tile_) * (kTileRows + 1) + static_cast<unsigned>(thread_)] =
          static_cast<unsigned short>(index < kTileSegments ? first_rank(index) : s_.pieces);
    }
    for (int i = thread_; i < segments_; i += kTileThreads) {
      const unsigned index = static_cast<unsigned>(i);
      if ((s_.leader[index / 32] >> (index % 32) & 1) == 0) continue;
      const Link link = unpack_link(s_.link[i]);
      const unsigned place = s_.next[i];
      const unsigned rank = place == kDropped ? kTileSegments : first_rank(link.smallest);
      const unsigned count = link.length + 1;
      // Only this leader reads or writes the link of its representative here.
      s_.link[representative(link)] = kRepresentative | rank | static_cast<unsigned long long>(count) << 16 |
                                      (link.ended ? kOpenEnd : 0);
      if (place == kDropped) continue;
      const unsigned piece = s_.piece_base + rank;
      if (place == kInside) {
        job_.work.head_points[piece] = count + 1;
        job_.work.pieces[piece] = {0, count | (link.ended ? 0U : 1U << 31), piece, link.ended ? 1U : 0U};
      }
      if (link.ended) {
        const TileSegment segment = unpack_segment(s_.segment[i]);
        store_point(job_.work.from[piece], point_of(segment, segment.from));
      }
      if (place < kDropped) {
        const unsigned active = s_.active_base + place;
        job_.work.active[active] = {count, raster_id(link.largest), link.to_largest,
                                    exit_slot(link.target, unusual)};
        job_.work.active_first[active] = {raster_id(link.smallest), piece};
        const unsigned entry = entry_slot(index, unusual);
        if (entry != kNone) job_.work.slots[entry] = active;
      }
    }
    __syncthreads();
  }

  __device__ void write_points() {
    for (int i = thread_; i < segments_; i += kTileThreads) {
      const TileSegment segment = unpack_segment(s_.segment[i]);
      const std::size_t at = s_.segment_base + static_cast<std::size_t>(i);
      uint2 place = {kNone, 0};
      if (segment.from != segment.to) {
        const unsigned long long own = s_.link[i];
        const bool is_representative = (own & kRepresentative) != 0;
        const Link link = unpack_link(own);
        const unsigned long long word = is_representative ? own : s_.link[representative(link)];
        const unsigned rank = static_cast<unsigned>(word) & 0xFFFF;
        const unsigned count = static_cast<unsigned>(word >> 16) & 0xFFFF;
        if (rank != kTileSegments) {
          place.x = s_.piece_base + rank;
          // A closed piece starts with its largest segment, which represents it; an open one ends with it.
          if (is_representative)
            place.y = (word & kOpenEnd) != 0 ? count - 1 : 0;
          else
            place.y = link.ended ? count - 1 - link.length : count - link.to_largest;
          store_point(job_.work.points[at], point_of(segment, segment.to));
        }
      }
      job_.work.places[at] = place;
    }
  }

  const Job<P>& job_;
  TileShared& s_;
  const int thread_;
  int tile_, plane_, row0_, col0_, rows_, segments_ = 0;
  double level_;
};

template <class T, class P>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks) trace_tiles(const __grid_constant__ Job<P> job) {
  TileTracer<T, P>(job, block_shared<TileShared>()).run();
}

}  // namespace contorno::contour_engine
