// The fourth and last step of a tile: writing its pieces and segments for the kernels that follow.
//
//   Writes  tile_pieces, row_pieces; points and places of its segments; pieces; active pieces, their windows,
//           chains and slots
#pragma once

#include "stages/contours/cuda/links.cuh"

namespace contorno::contour_engine {

/// One tile, as one of the kThreads threads that trace it sees it: those of a block or, if kThreads is 32, of
/// a warp. T is the type of the samples, P that of the points.
template <class T, class P, class Links, int kThreads>
class TilePieces {
 public:
  __device__ __forceinline__ TilePieces(const Job<P>& job, TileShared<Links>& shared, const TilePlace& place)
      : job_(job),
        s_(shared),
        place_(place),
        level_(job.level[place.plane % job.levels]),
        thread_(static_cast<int>(kThreads == 32 ? threadIdx.x % 32 : threadIdx.x)) {}

 protected:
  using Value = typename Sample<T>::Value;
  static constexpr unsigned kCapacity = Links::kCapacity;
  static constexpr unsigned kEndKey = Links::kEndKey;
  static constexpr int kWords = TileShared<Links>::kWords;
  /// The last warp counts pieces, from thread kAsking on, and thread kLast takes places from the counters:
  /// the last threads have the fewest segments to work on.
  static constexpr int kAsking = kThreads - 32;
  static constexpr int kLast = kThreads - 1;

  static __device__ __forceinline__ void sync() {
    if constexpr (kThreads == 32)
      __syncwarp();
    else
      __syncthreads();
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
  /// The two samples of an edge, upper or left one first.
  struct Edge {
    Value a, b;
    GridEdge where;
  };
  __device__ __forceinline__ Edge edge_of(const TileSegment& segment, int side) const {
    const Map& map = job_.map;
    Edge edge;
    edge.where = edge_of_side(place_.row0 + segment.row, place_.col0 + segment.col, side);
    const unsigned char* const first = map.data + place_.plane * map.plane_pitch +
                                       edge.where.row * map.row_pitch + edge.where.col * map.sample_pitch;
    edge.a = Sample<T>::read(first);
    edge.b = Sample<T>::read(first + (edge.where.across ? map.sample_pitch : map.row_pitch));
    return edge;
  }
  __device__ __forceinline__ PointD crossing_of(const Edge& edge) const {
    return crossing_point(edge.where, level_, value_of<T>(job_.map, edge.a), value_of<T>(job_.map, edge.b));
  }
  __device__ __forceinline__ unsigned raster_id(unsigned index) const {
    const TileSegment segment = unpack_segment(s_.segment[index]);
    const int row = place_.plane * job_.cell_rows + place_.row0 + segment.row;
    return 2U * (static_cast<unsigned>(row) * static_cast<unsigned>(job_.cell_columns) +
                 static_cast<unsigned>(place_.col0 + segment.col)) +
           static_cast<unsigned>(segment.sub);
  }
  /// Takes places for the tile's points from the counter, before they are needed.
  __device__ __forceinline__ void ask_for_points() {
    segment_base_ =
        take_if(thread_ == kLast, &job_.work.counters->segments, static_cast<unsigned>(segments_));
  }

  /// Tells all threads where the points begin; they may read it after the next barrier.
  __device__ __forceinline__ void share_points() {
    if (thread_ == kLast) s_.segment_base = segment_base_;
  }

  /// Prefetches the samples of is_blocked: they belong to another tile.
  __device__ __forceinline__ void ask_for_beyond(const TileSegment& last) const {
    if (!looks_beyond()) return;
    const Beyond at = beyond(last);
    for (int k = 0; k < 2; ++k)
      prefetch(job_.map.data + place_.plane * job_.map.plane_pitch + at.row[k] * job_.map.row_pitch +
               at.col[k] * job_.map.sample_pitch);
  }

  /// Writes all of the tile's results; only counts when the intermediate arrays are full.
  __device__ void write() {
    ask_for_pieces();
    PieceRecord first{};
    // A tile with few segments keeps only the first warps of a block busy, so pieces are given to the other
    // warps first.
    constexpr int kShift = kThreads == 32 ? 0 : kThreads / 2;
    const auto leader = static_cast<unsigned>((thread_ + kShift) % kThreads);
    const bool leads = leader < s_.open + s_.closed;
    // A block writes points while it waits for its places.
    constexpr bool kBefore = kThreads != 32;
    if constexpr (kBefore) {
      write_segments<true, false>();
      if (leads) first = record_of(leader);
    }
    if (!reserve()) return;
    if (kBefore && leads) write_piece(first);
    for (unsigned k = kBefore ? leader + kThreads : leader; k < s_.open + s_.closed; k += kThreads)
      write_piece(record_of(k));
    sync();
    write_segments<!kBefore, true>();
  }

  const Job<P>& job_;
  TileShared<Links>& s_;
  const TilePlace place_;
  const double level_;
  const int thread_;
  int segments_ = 0;

 private:
  /// The two samples of the cell beyond the edge where `last` ends that are not on this edge.
  struct Beyond {
    int row[2], col[2];
  };
  __device__ __forceinline__ bool looks_beyond() const {
    return Sample<T>::kMayBeNan || job_.map.mask != nullptr;
  }
  __device__ __forceinline__ Beyond beyond(const TileSegment& last) const {
    const int side = last.to;
    const bool across = is_across(side);
    const int r = place_.row0 + last.row + (side == kBottom ? 2 : (side == kTop ? -1 : 0));
    const int c = place_.col0 + last.col + (side == kRight ? 2 : (side == kLeft ? -1 : 0));
    const int bottom = job_.map.height - 1;
    const int right = job_.map.width - 1;
    return {{max(min(r, bottom), 0), min(max(r, 0) + (across ? 0 : 1), bottom)},
            {max(min(c, right), 0), min(max(c, 0) + (across ? 1 : 0), right)}};
  }

  /// Counts the pieces that begin before each word of 32 segments, and takes places for the tile's pieces
  /// from the counters.
  __device__ void ask_for_pieces() {
    if (thread_ < kAsking) return;
    constexpr int kLaneWords = (kWords + 31) / 32;
    const int word0 = (thread_ - kAsking) * kLaneWords;
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
    if (thread_ == kLast) s_.pieces = sum;
    piece_bases_ =
        take_if(thread_ == kLast, reinterpret_cast<unsigned long long*>(&job_.work.counters->pieces),
                sum | static_cast<unsigned long long>(s_.open) << 32);
  }
  __device__ __forceinline__ bool points_fit() const {
    return s_.segment_base + static_cast<unsigned>(segments_) <= job_.segment_capacity;
  }
  __device__ bool reserve() {
    if (thread_ == kLast) {
      s_.piece_base = static_cast<unsigned>(piece_bases_);
      s_.active_base = static_cast<unsigned>(piece_bases_ >> 32);
    }
    sync();
    const bool fits = points_fit() && s_.piece_base + s_.pieces <= job_.piece_capacity;
    if (thread_ == 0) job_.work.tile_pieces[place_.tile] = {s_.piece_base, fits ? s_.pieces : 0};
    if (fits) {
      unsigned short* const rows =
          job_.work.row_pieces + static_cast<std::size_t>(place_.tile) * (kTileRows + 1);
      for (int row = thread_; row <= kTileRows; row += kThreads) {
        const unsigned index = s_.before[2 * row];
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

  /// A piece before its place in the global arrays is known.
  struct PieceRecord {
    unsigned leader;          ///< index in TileShared::leader
    unsigned representative;  ///< segment at which the piece's data are collected
    unsigned first, count;    ///< segment with the smallest raster id; number of segments
    bool open, dropped;
    // Of an open piece:
    PointD from;
    unsigned exit, entry;  ///< slots where its follower is found, where it is found; or kNone
  };

  /// The piece of the k-th leader: open pieces first, then closed ones.
  __device__ __forceinline__ PieceRecord record_of(unsigned k) const {
    PieceRecord piece{};
    piece.open = k < s_.open;
    piece.leader = piece.open ? k : kCapacity - 1 - (k - s_.open);
    const unsigned leader = s_.leader[piece.leader] & (kDropped - 1);
    const Link link = s_.links.settled(leader);
    piece.representative = link.key % kEndKey;
    piece.dropped = (s_.leader[piece.leader] & kDropped) != 0;
    piece.first = s_.links.smallest_of(piece.representative);
    piece.count = 1 + (piece.open ? link.distance : s_.largest[piece.representative]);
    if (!piece.open) return piece;
    const TileSegment segment = unpack_segment(s_.segment[leader]);
    const TileSegment last = unpack_segment(s_.segment[piece.representative]);
    // All loads together.
    const Edge edge = edge_of(segment, segment.from);
    const bool blocked = is_blocked(last);
    piece.from = crossing_of(edge);
    piece.exit = exit_slot(piece.representative, last, blocked);
    piece.entry = entry_slot(segment, piece.from);
    return piece;
  }

  /// Writes a piece to the global arrays. At its representative `smallest` becomes (rank of the piece in the
  /// tile | segments << 16), for place_of.
  __device__ __forceinline__ void write_piece(const PieceRecord& record) {
    unsigned& smallest = s_.links.smallest_of(record.representative);
    if (record.dropped) {
      smallest = 0xFFFFU;
      return;
    }
    const unsigned rank = first_rank(record.first);
    const unsigned piece = s_.piece_base + rank;
    const unsigned count = record.count;
    smallest = rank | count << 16;
    if (!record.open) {
      job_.work.head_points[piece] = points_of(count) | 1U << 31;
      job_.work.pieces[piece] = {0, count | 1U << 31, piece, raster_id(record.first)};
      return;
    }
    const unsigned active = s_.active_base + record.leader;
    const unsigned largest = s_.largest[record.representative];
    store_point(job_.work.from[piece], record.from);
    const bool ends = record.exit == kNone;
    job_.work.active[active] = {raster_id(record.first), raster_id(largest >> 13),
                                count - 1 - (largest & 0x1FFF), piece};
    job_.work.windows[active] = {ends ? active : record.exit | kInSlot, ends ? 0 : count,
                                 ends ? active | kEnd : active, 0};
    job_.work.chains[active] = {~0ULL, 0, 0, count, {}};
    if (record.entry != kNone) job_.work.slots[record.entry] = active;
  }

  /// Whether the piece ends because the cell beyond its last edge has an unusable sample. The two samples on
  /// the edge are usable, so the other two decide. (For edges of the map samples inside are read instead; the
  /// answer is not used.)
  __device__ __forceinline__ bool is_blocked(const TileSegment& last) const {
    if (!looks_beyond()) return false;
    const Beyond at = beyond(last);
    const Value a = read_sample<T>(job_.map, place_.plane, at.row[0], at.col[0]);
    const Value b = read_sample<T>(job_.map, place_.plane, at.row[1], at.col[1]);
    return !(a == a && b == b) || is_masked(job_.map, at.row[0], at.col[0]) ||
           is_masked(job_.map, at.row[1], at.col[1]);
  }

  /// Slot where the follower of an open piece is found; kNone: none follows. `last` is the piece's last
  /// segment, at `index` in the list.
  __device__ __forceinline__ unsigned exit_slot(unsigned index, const TileSegment& last, bool blocked) const {
    const unsigned joint = s_.joints[index];
    const int row = place_.row0 + last.row;
    const int col = place_.col0 + last.col;
    if ((joint & kAtSample) != 0) {
      const GridEdge edge = edge_of_side(row, col, last.to);
      const bool far = (joint & kFarSample) != 0;
      return slot_of_sample(job_, place_.plane, edge.row + (far && !edge.across ? 1 : 0),
                            edge.col + (far && edge.across ? 1 : 0), static_cast<int>(joint / kQuadrant));
    }
    if ((joint & kAtNothing) != 0 || blocked) return kNone;
    return slot_of_edge(job_, place_.plane, row, col, last.to);
  }

  /// Slot where a predecessor in another tile finds the piece that begins with segment `first` at point
  /// `from`.
  __device__ __forceinline__ unsigned entry_slot(const TileSegment& first, const PointD& from) const {
    const int row = place_.row0 + first.row;
    const int col = place_.col0 + first.col;
    if (s_.bits.unusual != 0) {
      const NodeKind node = node_of(from, is_across(first.from));
      if (node == NodeKind::None) return kNone;
      if (node == NodeKind::Sample) {
        const int r = static_cast<int>(from.row);
        const int c = static_cast<int>(from.col);
        return slot_of_sample(job_, place_.plane, r, c, 2 * (row - r + 1) + (col - c + 1));
      }
    }
    return slot_of_edge(job_, place_.plane, row, col, first.from);
  }

  /// Writes the points of the tile's segments, or their places, or both. While it computes the points of a
  /// round it loads the samples for the next.
  template <bool kPoints, bool kPlaces>
  __device__ void write_segments() {
    if (!kPlaces && !points_fit()) return;
    TileSegment segment = unpack_segment(s_.segment[min(thread_, segments_ - 1)]);
    Edge edge{};
    if constexpr (kPoints) edge = edge_of(segment, segment.to);
#pragma unroll 1
    for (int i = thread_; i < segments_; i += kThreads) {
      const bool empty = segment.from == segment.to;
      const Edge here = edge;
      segment = unpack_segment(s_.segment[min(i + kThreads, segments_ - 1)]);
      if constexpr (kPoints) edge = edge_of(segment, segment.to);
      const std::size_t at = s_.segment_base + static_cast<std::size_t>(i);
      const uint2 place = kPlaces && !empty ? place_of(static_cast<unsigned>(i)) : uint2{kNone, 0};
      if (kPoints && !empty && (!kPlaces || place.x != kNone))
        store_point(job_.work.points[at], crossing_of(here));
      if constexpr (kPlaces) job_.work.places[at] = place;
    }
  }

  /// Piece of a segment, and its position in the piece; kNone: its contour is left out.
  __device__ __forceinline__ uint2 place_of(unsigned index) const {
    const Link link = s_.links.settled(index);
    const unsigned word = s_.links.smallest_of(link.key % kEndKey);
    const unsigned count = word >> 16;
    if ((word & 0xFFFFU) == 0xFFFFU) return {kNone, 0};
    // An open piece is ranked by the steps to its end, a closed one by those to its largest segment.
    return {s_.piece_base + (word & 0xFFFFU), link.key >= kEndKey
                                                  ? count - 1 - link.distance
                                                  : (link.distance == 0 ? 0 : count - link.distance)};
  }

  // Known in thread kLast only:
  unsigned segment_base_ = 0;
  unsigned long long piece_bases_ = 0;
};

}  // namespace contorno::contour_engine
