// Step 6 of a tile, write: what the kernels that follow need of its segments and pieces.
//
//   Reads   all that the steps before left in shared memory, and the samples of the crossed edges
//   Writes  tile_pieces, row_pieces; points; pieces, piece_points, from, head_points; of open pieces also
//           open_pieces, piece_links, chains and junctions. With several levels not the first two, but the
//           planes of pieces
//
// Atomic counters allocate the tile's elements of these arrays. They are asked early and their answers are
// used late, so that other work hides the wait. A piece's number in the tile is the rank of its first segment
// among all first segments, so pieces lie in raster order. Their points do not: write_piece gives them places
// in any order.
#pragma once

#include "stages/contours/cuda/junctions.cuh"

namespace contorno::contour_engine {

// Allocation -----------------------------------------------------------------------------------------------
/// Allocates the tile's points. The answer stays in thread kLast.
template <class S>
__device__ __forceinline__ void allocate_segments(Tile<S>& tile) {
  tile.segment_base = fetch_add_if(tile.thread == tile.kLast, &tile.group.work.counters->segments,
                                   static_cast<unsigned>(tile.segments));
}

/// Tells all threads where the points begin; they may read it after the next barrier.
template <class S>
__device__ __forceinline__ void publish_segment_base(Tile<S>& tile) {
  if (tile.thread == tile.kLast) tile.shared.segment_base = tile.segment_base;
}

/// Counts the pieces that begin before each word of 32 segments, with the last warp, and allocates the tile's
/// pieces and open pieces. The answer stays in thread kLast.
template <class S>
__device__ __forceinline__ void allocate_pieces(Tile<S>& tile) {
  constexpr int kFirstThread = S::kThreads - 32;
  constexpr int kWords = TileShared<typename S::Links>::kWords;
  constexpr int kLaneWords = (kWords + 31) / 32;
  if (tile.thread < kFirstThread) return;
  auto& s = tile.shared;
  const int word0 = (tile.thread - kFirstThread) * kLaneWords;
  unsigned own = 0;
#pragma unroll
  for (int k = 0; k < kLaneWords; ++k)
    if (word0 + k < kWords) own += static_cast<unsigned>(__popc(s.first[word0 + k]));
  const unsigned sum = sum_to_lane(own);
  unsigned running = sum - own;
#pragma unroll
  for (int k = 0; k < kLaneWords; ++k)
    if (word0 + k < kWords) {
      s.first_before[word0 + k] = running;
      running += static_cast<unsigned>(__popc(s.first[word0 + k]));
    }
  if (tile.thread == tile.kLast) s.pieces = sum;
  tile.piece_bases = fetch_add_if(tile.thread == tile.kLast,
                                  reinterpret_cast<unsigned long long*>(&tile.group.work.counters->pieces),
                                  sum | static_cast<unsigned long long>(s.open) << 32);
}

/// How many pieces of the tile have their first segment before segment `index`.
template <class S>
__device__ __forceinline__ unsigned pieces_before(const Tile<S>& tile, unsigned index) {
  const auto& s = tile.shared;
  return s.first_before[index / 32] +
         static_cast<unsigned>(__popc(s.first[index / 32] & ((1U << (index % 32)) - 1)));
}

/// Waits for the pieces' elements and writes which of them begin in which row. False: the arrays are full.
template <class S>
__device__ __forceinline__ bool write_row_pieces(Tile<S>& tile) {
  auto& s = tile.shared;
  const auto& work = tile.group.work;
  if (tile.thread == tile.kLast) {
    s.piece_base = static_cast<unsigned>(tile.piece_bases);
    s.open_base = static_cast<unsigned>(tile.piece_bases >> 32);
  }
  tile.sync();
  const bool has_room = s.segment_base + static_cast<unsigned>(tile.segments) <= tile.group.segment_capacity;
  const bool fits = has_room && s.piece_base + s.pieces <= tile.group.piece_capacity;
  if (tile.thread == 0) {
    if constexpr (!S::kByLevel) work.tile_pieces[tile.bounds.tile] = {s.piece_base, fits ? s.pieces : 0};
    if (!has_room) work.counters->full = 1;  // the other counters may go past what they can count
  }
  if (!S::kByLevel && fits) {
    unsigned short* const rows =
        work.row_pieces + static_cast<std::size_t>(tile.bounds.tile) * (kTileRows + 1);
    for (int row = tile.thread; row <= kTileRows; row += S::kThreads) {
      const unsigned index = s.before[2 * row];
      rows[row] = static_cast<unsigned short>(
          index < static_cast<unsigned>(tile.segments) ? pieces_before(tile, index) : s.pieces);
    }
  }
  return fits;
}

// Pieces ---------------------------------------------------------------------------------------------------
/// A piece before its element of the global arrays is known.
struct PieceRecord {
  unsigned leader;          ///< index in TileShared::leader
  unsigned representative;  ///< segment at which the piece's data are collected
  unsigned first, count;    ///< segment with the smallest raster id; number of segments
  bool open, dropped;
  // For an open piece alone:
  PointD from;
  unsigned exit, entry;  ///< junctions where its follower is found, where it is found; or kNone
};

template <class S>
__device__ __forceinline__ unsigned raster_id(const Tile<S>& tile, unsigned index) {
  return raster_id(tile.group, tile.bounds, unpack_segment(tile.shared.segment[index]));
}

/// Junction where the follower of an open piece is found; kNone: none follows. `last` is the piece's last
/// segment, at `index` in the list.
template <class S>
__device__ __forceinline__ unsigned exit_junction(const Tile<S>& tile, unsigned index,
                                                  const TileSegment& last, bool blocked) {
  const unsigned flags = tile.shared.flags[index];
  const int plane = tile.bounds.plane;
  const int row = tile.bounds.row0 + last.row;
  const int col = tile.bounds.col0 + last.col;
  if ((flags & kAtSample) != 0) {
    const GridEdge edge = edge_of_side(row, col, last.to);
    const bool far = (flags & kFarSample) != 0;
    return junction_at_sample(tile.group, plane, edge.row + (far && !edge.across ? 1 : 0),
                              edge.col + (far && edge.across ? 1 : 0), static_cast<int>(flags / kQuadrant));
  }
  if ((flags & kAtNothing) != 0 || blocked) return kNone;
  return junction_at_edge(tile.group, plane, row, col, last.to);
}

/// Junction where a predecessor in another tile finds the piece that begins with segment `first` at point
/// `from`.
template <class S>
__device__ __forceinline__ unsigned entry_junction(const Tile<S>& tile, const TileSegment& first,
                                                   const PointD& from) {
  const int plane = tile.bounds.plane;
  const int row = tile.bounds.row0 + first.row;
  const int col = tile.bounds.col0 + first.col;
  if (tile.shared.bits.unusual != 0) {
    const NodeKind node = node_of(from, is_across(first.from));
    if (node == NodeKind::None) return kNone;
    if (node == NodeKind::Sample) {
      const int r = static_cast<int>(from.row);
      const int c = static_cast<int>(from.col);
      return junction_at_sample(tile.group, plane, r, c, 2 * (row - r + 1) + (col - c + 1));
    }
  }
  return junction_at_edge(tile.group, plane, row, col, first.from);
}

/// The piece of the k-th leader: open pieces first, then closed ones.
template <class S>
__device__ __forceinline__ PieceRecord record_of(const Tile<S>& tile, unsigned k) {
  using Links = typename S::Links;
  auto& s = tile.shared;
  PieceRecord piece{};
  piece.open = k < s.open;
  piece.leader = piece.open ? k : Links::kCapacity - 1 - (k - s.open);
  const unsigned leader = s.leader[piece.leader] & (kDropped - 1);
  const SegmentLink link = s.links.ranked(leader);
  piece.representative = link.highest % Links::kOpenEnd;
  piece.dropped = (s.leader[piece.leader] & kDropped) != 0;
  piece.first = s.links.smallest_of(piece.representative);
  piece.count = 1 + (piece.open ? link.distance : s.largest[piece.representative]);
  if (!piece.open) return piece;
  const TileSegment segment = unpack_segment(s.segment[leader]);
  const TileSegment last = unpack_segment(s.segment[piece.representative]);
  // All loads together.
  const auto edge = read_edge(tile, segment, segment.from);
  const bool blocked = is_blocked<typename S::Element>(tile.group.map, tile.bounds, last);
  piece.from = crossing_of(tile, edge);
  piece.exit = exit_junction(tile, piece.representative, last, blocked);
  piece.entry = entry_junction(tile, segment, piece.from);
  return piece;
}

/// Writes an open piece, element `open` of their arrays, and what joining begins with. `exit` and `entry` are
/// as in PieceRecord.
template <class P>
__device__ __forceinline__ void write_open_piece(const Work<P>& work, unsigned open, const OpenPiece& record,
                                                 unsigned count, const P& from, unsigned exit,
                                                 unsigned entry) {
  work.from[record.piece] = from;
  const bool ends = exit == kNone;
  work.open_pieces[open] = record;
  work.piece_links[open] = {ends ? open : exit | kAtJunction, ends ? 0 : count, ends ? open | kEnd : open, 0};
  work.chains[open] = {~0ULL, 0, 0, count, {}};
  if (entry != kNone) work.junctions[entry] = open;
}

/// Writes a closed piece, which is a whole contour.
template <class P>
__device__ __forceinline__ void write_closed_piece(const Work<P>& work, unsigned piece, unsigned count,
                                                   unsigned first_id) {
  work.head_points[piece] = points_of(count) | 1U << 31;
  work.pieces[piece] = {0, count | 1U << 31, piece, first_id};
}

/// Writes a piece to the global arrays, and gives its points places. At its representative `smallest` becomes
/// the number of its segments, 0 if it is left out, and `largest` the first of its places, for place_of.
template <class S>
__device__ __forceinline__ void write_piece(Tile<S>& tile, const PieceRecord& record) {
  const auto& work = tile.group.work;
  unsigned& smallest = tile.shared.links.smallest_of(record.representative);
  if (record.dropped) {
    smallest = 0;
    return;
  }
  const unsigned piece = tile.shared.piece_base + pieces_before(tile, record.first);
  const unsigned count = record.count;
  const unsigned begin = atomicAdd(&tile.shared.placed, count);
  const unsigned largest = tile.shared.largest[record.representative];
  smallest = count;
  tile.shared.largest[record.representative] = begin;
  work.piece_points[piece] = {tile.shared.segment_base + begin, count};
  if constexpr (S::kByLevel) work.head_offset[piece] = work.near.levels[tile.bounds.plane].plane;
  const unsigned first_id = raster_id(tile, record.first);
  if (!record.open) return write_closed_piece(work, piece, count, first_id);
  typename S::Point from;
  store_point(from, record.from);
  write_open_piece(work, tile.shared.open_base + record.leader,
                   {first_id, raster_id(tile, largest >> kLargestShift),
                    count - 1 - largest % (1U << kLargestShift), piece},
                   count, from, record.exit, record.entry);
}

// Segments -------------------------------------------------------------------------------------------------
/// The place of a segment in its piece of `count` segments: an open piece is ranked by the steps to its end,
/// a closed one by those to its largest segment.
template <class Links>
__device__ __forceinline__ unsigned rank_in_piece(const SegmentLink& link, unsigned count) {
  return link.highest >= Links::kOpenEnd ? count - 1 - link.distance
                                         : (link.distance == 0 ? 0 : count - link.distance);
}

/// Where a segment's point goes among the tile's points; kNone: the contour is left out.
template <class S>
__device__ __forceinline__ unsigned place_of(const Tile<S>& tile, unsigned index) {
  auto& s = tile.shared;
  const SegmentLink link = s.links.ranked(index);
  const unsigned representative = link.highest % S::Links::kOpenEnd;
  const unsigned count = s.links.smallest_of(representative);
  return count == 0 ? kNone : s.largest[representative] + rank_in_piece<typename S::Links>(link, count);
}

/// Writes the points of the tile's segments, piece by piece. While it computes the points of a round it loads
/// the samples for the next.
template <class S>
__device__ __forceinline__ void write_segments(Tile<S>& tile) {
  auto& s = tile.shared;
  const auto& work = tile.group.work;
  TileSegment segment = unpack_segment(s.segment[min(tile.thread, tile.segments - 1)]);
  EdgeSamples<typename S::Value> edge = read_edge(tile, segment, segment.to);
#pragma unroll 1
  for (int i = tile.thread; i < tile.segments; i += S::kThreads) {
    const bool empty = segment.from == segment.to;
    const EdgeSamples<typename S::Value> here = edge;
    segment = unpack_segment(s.segment[min(i + S::kThreads, tile.segments - 1)]);
    edge = read_edge(tile, segment, segment.to);
    if (empty) continue;
    const unsigned place = place_of(tile, static_cast<unsigned>(i));
    if (place != kNone)
      store_point(work.points[s.segment_base + static_cast<std::size_t>(place)], crossing_of(tile, here));
  }
}

/// Writes all of the tile's results; only counts when the global arrays are full.
template <class S>
__device__ __forceinline__ void write_tile(Tile<S>& tile) {
  allocate_pieces(tile);
  if (!write_row_pieces(tile)) return;
  const unsigned leaders = tile.shared.open + tile.shared.closed;
  for (auto k = static_cast<unsigned>(tile.thread); k < leaders; k += S::kThreads)
    write_piece(tile, record_of(tile, k));
  tile.sync();
  write_segments(tile);
}

}  // namespace contorno::contour_engine
