// Steps 5 and 6 of a batch of levels, rank and write: what the kernels that follow need of its segments and
// pieces.
//
//   Reads   crossing, link, leader, sample
//   Writes  what write.cuh says of several levels
//
// A thread follows each piece from crossing to crossing: a tile has few pieces, few of which are long, and
// this takes a third of the instructions of pointer jumping. Points are written piece by piece, each in the
// order of its contour, so that scatter_points finds points that belong together.
#pragma once

#include "stages/contours/cuda/batch_crossings.cuh"
#include "stages/contours/cuda/write.cuh"

namespace contorno::contour_engine {

/// Follows piece number `piece` from its leader, until no crossing follows or, if it is closed, the leader
/// comes again. Replaces its links, and gives the piece its place. An open piece has a crossing more than it
/// has segments; a closed one of fewer than `min_points` points is left out.
template <bool kClosed, class T, class P>
__device__ __forceinline__ void follow_piece(BatchShared<T, P>& s, unsigned piece, unsigned min_points) {
  const unsigned first = s.leader[piece], from = kFollowed | piece << kKeyShift;
  unsigned i = first, at = from;
  unsigned smallest = ~0U, largest = 0;  // keys in the upper half, ranks in the lower one
#pragma unroll 4
  for (;;) {
    const unsigned link = s.link[i], next = link & kCrossingMask;
    s.link[i] = at;
    if (!kClosed && next == kNoCrossing) break;
    const unsigned key = __byte_perm(at, link, 0x7610);
    smallest = min(smallest, key);
    largest = max(largest, key);
    ++at;
    if (kClosed && next == first) break;
    i = next;
  }
  const unsigned segments = at - from, count = !kClosed || keep_contour(segments, min_points) ? segments : 0;
  const unsigned before = atomicAdd(&s.sums, count != 0 ? 1U << 16 | count : 0);
  const auto narrow = [](unsigned value) { return static_cast<unsigned short>(value); };
  s.piece[piece] = {narrow(first),   narrow(i),     narrow(smallest >> 16),  narrow(largest >> 16),
                    narrow(largest), narrow(count), narrow(before & 0xFFFF), narrow(before >> 16)};
}

/// The grid edge of a crossing.
template <class S>
__device__ __forceinline__ GridEdge edge_of(const LevelBatch<S>& batch, const EdgeCrossing& at) {
  return {batch.bounds.row0 + at.row, batch.bounds.col0 + at.col, at.across};
}
/// The point of crossing `i`.
template <class S>
__device__ __forceinline__ typename S::Point point_of(const LevelBatch<S>& batch, unsigned i,
                                                      const EdgeCrossing& at) {
  typename S::Point point;
  store_point(point, point_on_edge(edge_of(batch, at), static_cast<double>(batch.shared.coordinate[i])));
  return point;
}

/// Computes where the crossings lie, and finds the unusual levels. The first warp, which has most pieces to
/// follow, is left out.
template <class S>
__device__ __forceinline__ void compute_coordinates(const LevelBatch<S>& batch) {
  using T = typename S::Element;
  auto& s = batch.shared;
  const unsigned crossings = s.crossings;
  const Map& map = batch.group.map;
  if (batch.thread < 32) return;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread - 32); i < crossings; i += kBatchThreads - 32) {
    const EdgeCrossing at = unpack_crossing(s.crossing[i]);
    const GridEdge edge = edge_of(batch, at);
    const auto* const a = s.sample + at.place;
    const double coordinate = crossing_coordinate(edge, s.level[at.level], value_of<T>(map, a[0]),
                                                  value_of<T>(map, a[at.across ? 1 : kPitch]));
    const double begin = at.across ? edge.col : edge.row;
    if (!(coordinate > begin && coordinate < begin + 1)) atomicOr(&s.unusual, s.lane[at.level]);
    s.coordinate[i] = static_cast<decltype(S::Point::row)>(coordinate);
  }
}

/// Finds the leaders of closed pieces among the crossings that are in no open one.
template <class S>
__device__ __forceinline__ void find_closed(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const unsigned crossings = s.crossings;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < crossings; i += kBatchThreads) {
    const unsigned link = s.link[i];
    if ((link & kFollowed) != 0) continue;
    // The crossing with the largest index comes back to itself; the others soon meet a larger one.
    unsigned next = link & kCrossingMask;
    while (next < i) next = s.link[next] & kCrossingMask;
    if (next != i) continue;
    const unsigned leader = s.open + atomicAdd(&s.closed, 1U);
    if (leader < kBatchPieces) s.leader[leader] = static_cast<unsigned short>(i);
  }
}

/// Follows all pieces, and meanwhile computes coordinates. False: there is no room for the
/// pieces. Ends with a barrier.
template <class S>
__device__ __forceinline__ bool follow_pieces(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const unsigned open = s.open, min_points = batch.group.min_points;
  if (open > kBatchPieces) return false;
#pragma unroll 1
  for (auto k = static_cast<unsigned>(batch.thread); k < open; k += kBatchThreads)
    follow_piece<false>(s, k, min_points);
  compute_coordinates(batch);
  __syncthreads();
  if (s.segments() + open == s.crossings) return true;
  find_closed(batch);
  __syncthreads();
  const unsigned pieces = open + s.closed;
  if (pieces > kBatchPieces) return false;
#pragma unroll 1
  for (unsigned k = open + static_cast<unsigned>(batch.thread); k < pieces; k += kBatchThreads)
    follow_piece<true>(s, k, min_points);
  __syncthreads();
  return true;
}

/// Puts the crossings at which segments end in the order of pieces. A closed piece begins with the segment
/// that has the largest key.
template <class S>
__device__ __forceinline__ void place_segments(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const unsigned open = s.open, crossings = s.crossings;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < crossings; i += kBatchThreads) {
    const unsigned at = s.link[i] & ~kFollowed, k = at >> kKeyShift, crossings_before = at & 0xFFFF;
    const BatchPiece& piece = s.piece[k];
    const bool is_open = k < open;
    int rank = static_cast<int>(crossings_before) - 1 - (is_open ? 0 : piece.largest_rank);
    if (piece.count == 0 || (is_open && rank < 0)) continue;
    if (rank < 0) rank += piece.count;
    s.placed[piece.begin + rank] = static_cast<unsigned short>(i);
  }
}

/// Junction of a crossing; kNone where no other tile lies beyond it.
template <class S>
__device__ __forceinline__ unsigned junction_of(const LevelBatch<S>& batch, const EdgeCrossing& crossing) {
  const TileBounds& bounds = batch.bounds;
  return junction_on_edge(batch.group, edge_of(batch, crossing), [&](int row, int col) {
    const int of = col >= bounds.col0 + kTileColumns ? 1 : row >= bounds.row0 + kTileRows ? 2 : 0;
    return (batch.shared.tile_offset[of] + batch.shared.position[crossing.level]) * kTileJunctions;
  });
}

/// What is_blocked needs of the segment that ends at `exit`, where a piece leaves the tile: its cell and the
/// side where it ends.
__device__ __forceinline__ TileSegment segment_before(const EdgeCrossing& exit) {
  if (exit.across) return {max(exit.row - 1, 0), exit.col, 0, 0, exit.row == 0 ? kTop : kBottom};
  return {exit.row, max(exit.col - 1, 0), 0, 0, exit.col == 0 ? kLeft : kRight};
}

/// Writes piece number `k` of the batch to the global arrays.
template <class S>
__device__ __forceinline__ void write_batch_piece(const LevelBatch<S>& batch, unsigned k) {
  using T = typename S::Element;
  const auto& s = batch.shared;
  const auto& group = batch.group;
  const BatchPiece piece = s.piece[k];
  if (piece.count == 0) return;
  const EdgeCrossing first = unpack_crossing(s.crossing[piece.first]);
  const unsigned to = s.piece_base + piece.number;
  const auto id = [&](unsigned key) { return raster_id(group, batch.bounds, segment_of_key(key)); };
  group.work.head_offset[to] = s.plane[first.level];
  group.work.piece_points[to] = {s.segment_base + piece.begin, piece.count};
  if (k >= s.open) return write_closed_piece(group.work, to, piece.count, id(piece.smallest));
  const EdgeCrossing last = unpack_crossing(s.crossing[piece.last]);
  const bool blocked = is_blocked<T>(group.map, batch.bounds, segment_before(last));
  const OpenPiece record{id(piece.smallest), id(piece.largest), piece.largest_rank, to};
  write_open_piece(group.work, s.open_base + k, record, piece.count, point_of(batch, piece.first, first),
                   blocked ? kNone : junction_of(batch, last), junction_of(batch, first));
}

/// Writes the points of the placed segments.
template <class S>
__device__ __forceinline__ void write_points(const LevelBatch<S>& batch) {
  const auto& s = batch.shared;
  const auto& work = batch.group.work;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < s.segments(); i += kBatchThreads) {
    const unsigned index = s.placed[i];
    work.points[s.segment_base + static_cast<std::size_t>(i)] =
        point_of(batch, index, unpack_crossing(s.crossing[index]));
  }
}

/// Writes the pieces that have been followed and their points. Without a barrier at the end.
template <class S>
__device__ __forceinline__ void write_batch(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  Counters& counters = *batch.group.work.counters;
  const unsigned pieces = s.open + s.closed, segments = s.segments(), kept = s.kept_pieces();
  // The answers are used late, so that other work hides the wait.
  const bool allocates = batch.thread == 0;
  const unsigned segment_base = fetch_add_if(allocates, &counters.segments, segments);
  const unsigned long long piece_bases =
      fetch_add_if(allocates, reinterpret_cast<unsigned long long*>(&counters.pieces),
                   kept | static_cast<unsigned long long>(s.open) << 32);
  place_segments(batch);
  if (allocates) {
    s.segment_base = segment_base;
    s.piece_base = static_cast<unsigned>(piece_bases);
    s.open_base = static_cast<unsigned>(piece_bases >> 32);
  }
  __syncthreads();
  const bool has_room = s.segment_base + segments <= batch.group.segment_capacity;
  if (batch.thread == 0 && !has_room) counters.full = 1;  // as in write_row_pieces
  if (!has_room || s.piece_base + kept > batch.group.piece_capacity) return;
  // Those of the last threads first: the others begin with points.
  for (auto k = static_cast<unsigned>(kBatchThreads - 1 - batch.thread); k < pieces; k += kBatchThreads)
    write_batch_piece(batch, k);
  write_points(batch);
}

}  // namespace contorno::contour_engine
