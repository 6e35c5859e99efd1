// Steps 5 and 6 of a batch of levels, rank and write: what the kernels that follow need of its segments and
// pieces.
//
//   Reads   next, segment, leader, sample
//   Writes  what write.cuh says of several levels
//
// A thread follows each piece from its first segment to the last, one after the other: a tile has few pieces,
// none of which is long, and this takes a third of the instructions of pointer jumping. Points are written
// piece by piece, each in the order of its contour, so that scatter_points finds points that belong together.
#pragma once

#include "stages/contours/cuda/batch_cells.cuh"
#include "stages/contours/cuda/write.cuh"

namespace contorno::contour_engine {

/// Follows piece number `piece` from its leader, until there is no segment or the leader comes again.
/// Segments are marked as followed.
template <class T>
__device__ __forceinline__ void follow_piece(BatchShared<T>& s, unsigned piece) {
  const unsigned first = s.leader[piece];
  unsigned i = first, count = 0, last = first, smallest = first, largest = first, largest_rank = 0;
  do {
    s.where[i] = piece << 16 | count;
    const unsigned next = s.next[i];
    s.next[i] = kFollowed;
    if (i > largest) largest = i, largest_rank = count;
    smallest = min(smallest, i);
    last = i;
    i = next;
    ++count;
  } while (i != kNoSegment && i != first);
  const auto narrow = [](unsigned value) { return static_cast<unsigned short>(value); };
  s.piece[piece] = {narrow(first),
                    narrow(last),
                    narrow(smallest),
                    narrow(largest),
                    narrow(largest_rank),
                    narrow(count),
                    0,
                    0};
}

/// Finds the leaders of closed pieces among the segments that are in no open one.
template <class S>
__device__ __forceinline__ void find_closed(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < batch.segments; i += kBatchThreads) {
    unsigned next = s.next[i];
    if (next == kFollowed) continue;
    // The segment with the largest index comes back to itself; the others soon meet a larger one.
    while (next < i) next = s.next[next];
    if (next != i) continue;
    const unsigned leader = s.open + atomicAdd(&s.closed, 1U);
    if (leader < kBatchPieces) s.leader[leader] = static_cast<unsigned short>(i);
  }
}

/// Follows all pieces. False: there is no room for them. Ends with a barrier.
template <class S>
__device__ __forceinline__ bool follow_pieces(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  const unsigned open = s.open;
  if (open > kBatchPieces) return false;
#pragma unroll 1
  for (auto k = static_cast<unsigned>(batch.thread); k < open; k += kBatchThreads) {
    follow_piece(s, k);
    atomicAdd(&s.in_open, static_cast<unsigned>(s.piece[k].count));
  }
  __syncthreads();
  if (s.in_open == batch.segments) return true;
  find_closed(batch);
  __syncthreads();
  const unsigned pieces = open + s.closed;
  if (pieces > kBatchPieces) return false;
#pragma unroll 1
  for (unsigned k = open + static_cast<unsigned>(batch.thread); k < pieces; k += kBatchThreads) {
    follow_piece(s, k);
    if (!keep_contour(unsigned{s.piece[k].count}, batch.group.min_points)) s.piece[k].count = 0;
  }
  __syncthreads();
  return true;
}

/// Counts what comes before each piece. Called by the first warp; returns the sums, pieces << 16 | segments.
template <class T>
__device__ __forceinline__ unsigned place_pieces(BatchShared<T>& s, unsigned pieces) {
  unsigned before = 0;
#pragma unroll 1
  for (unsigned base = 0; base < pieces; base += 32) {
    const unsigned k = base + threadIdx.x % 32;
    const unsigned count = k < pieces ? s.piece[k].count : 0;
    const unsigned own = count != 0 ? 1U << 16 | count : 0;
    const unsigned sum = before + warp_scan(own);
    if (k < pieces) {
      s.piece[k].begin = static_cast<unsigned short>((sum - own) & 0xFFFF);
      s.piece[k].number = static_cast<unsigned short>((sum - own) >> 16);
    }
    before = __shfl_sync(~0U, sum, 31);
  }
  return before;
}

/// Puts the segments in the order of pieces.
template <class S>
__device__ __forceinline__ void place_segments(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
#pragma unroll 1
  for (auto i = static_cast<unsigned>(batch.thread); i < batch.segments; i += kBatchThreads) {
    const unsigned where = s.where[i];
    const BatchPiece& piece = s.piece[where >> 16];
    if (piece.count != 0) s.placed[piece.begin + (where & 0xFFFF)] = static_cast<unsigned short>(i);
  }
}

/// The samples of the edge on a side of a segment's cell.
template <class S>
__device__ __forceinline__ EdgeSamples<typename S::Value> edge_of(const LevelBatch<S>& batch,
                                                                  const TileSegment& segment, int side) {
  const GridEdge in_tile = edge_of_side(segment.row, segment.col, side);
  const auto* const a = batch.shared.sample + in_tile.row * kSamplePitch + in_tile.col;
  return {a[0],
          a[in_tile.across ? 1 : kSamplePitch],
          {batch.bounds.row0 + in_tile.row, batch.bounds.col0 + in_tile.col, in_tile.across}};
}

/// Junction of the edge on a side of a segment's cell, for a plane's position; kNone where no other tile lies
/// beyond it.
template <class S>
__device__ __forceinline__ unsigned junction_of(const LevelBatch<S>& batch, unsigned position,
                                                const TileSegment& segment, int side) {
  const TileBounds& bounds = batch.bounds;
  return junction_at_edge_of(
      batch.group, bounds.row0 + segment.row, bounds.col0 + segment.col, side, [&](int row, int col) {
        const int of = col >= bounds.col0 + kTileColumns ? 1 : row >= bounds.row0 + kTileRows ? 2 : 0;
        return (batch.shared.tile_offset[of] + position) * kTileJunctions;
      });
}

/// Writes piece number `k` of the batch to the global arrays.
template <class S>
__device__ __forceinline__ void write_batch_piece(const LevelBatch<S>& batch, unsigned k) {
  using T = typename S::Element;
  const auto& s = batch.shared;
  const auto& group = batch.group;
  const BatchPiece piece = s.piece[k];
  if (piece.count == 0) return;
  const auto segment_at = [&](unsigned index) {
    return unpack_segment(static_cast<unsigned short>(s.segment[index]));
  };
  const unsigned level = s.segment[piece.first] >> 16, to = s.piece_base + piece.number;
  const unsigned first_id = raster_id(group, batch.bounds, segment_at(piece.smallest));
  group.work.head_offset[to] = s.plane[level];
  if (k >= s.open) return write_closed_piece(group.work, to, piece.count, first_id);
  const TileSegment begin = segment_at(piece.first), last = segment_at(piece.last);
  const unsigned exit = is_blocked<T>(group.map, batch.bounds, last)
                            ? kNone
                            : junction_of(batch, s.position[level], last, last.to);
  const OpenPiece record{first_id, raster_id(group, batch.bounds, segment_at(piece.largest)),
                         piece.largest_rank, to};
  write_open_piece(group.work, s.open_base + k, record, piece.count,
                   crossing_of<T>(group.map, s.level[level], edge_of(batch, begin, begin.from)), exit,
                   junction_of(batch, s.position[level], begin, begin.from));
}

/// Writes the points of the placed segments and their ranks. The last warp has written the pieces, which
/// takes as long as two rounds of points.
template <class S>
__device__ __forceinline__ void write_points(const LevelBatch<S>& batch) {
  using T = typename S::Element;
  const auto& s = batch.shared;
  const auto& group = batch.group;
  constexpr unsigned kOthers = kBatchThreads - 32, kEarly = 2 * kOthers;
  const auto thread = static_cast<unsigned>(batch.thread);
#pragma unroll 1
  for (unsigned i = thread < kOthers ? thread : kEarly + thread; i < s.segments;
       i += i < kEarly ? kOthers : kBatchThreads) {
    const unsigned index = s.placed[i], segment = s.segment[index];
    const BatchPiece& piece = s.piece[s.where[index] >> 16];
    const TileSegment at = unpack_segment(static_cast<unsigned short>(segment));
    const PointD point = crossing_of<T>(group.map, s.level[segment >> 16], edge_of(batch, at, at.to));
    const std::size_t to = s.segment_base + static_cast<std::size_t>(i);
    store_point(group.work.points[to], point);
    group.work.ranks[to] = {s.piece_base + piece.number, i - piece.begin};
  }
}

/// Steps 5 and 6. False: there is no room for the pieces. Without a barrier at the end.
template <class S>
__device__ __forceinline__ bool write_batch(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  Counters& counters = *batch.group.work.counters;
  if (!follow_pieces(batch)) return false;
  const unsigned pieces = s.open + s.closed;
  unsigned sums = 0;
  if (batch.thread < 32) sums = place_pieces(s, pieces);
  // The answers are used late, so that other work hides the wait.
  const bool allocates = batch.thread == 0;
  const unsigned segment_base = fetch_add_if(allocates, &counters.segments, sums & 0xFFFF);
  const unsigned long long piece_bases =
      fetch_add_if(allocates, reinterpret_cast<unsigned long long*>(&counters.pieces),
                   sums >> 16 | static_cast<unsigned long long>(s.open) << 32);
  __syncthreads();
  place_segments(batch);
  if (allocates) {
    s.segments = sums & 0xFFFF;
    s.kept = sums >> 16;
    s.segment_base = segment_base;
    s.piece_base = static_cast<unsigned>(piece_bases);
    s.open_base = static_cast<unsigned>(piece_bases >> 32);
  }
  __syncthreads();
  const bool has_room = s.segment_base + s.segments <= batch.group.segment_capacity;
  if (batch.thread == 0 && !has_room) counters.full = 1;  // as in write_row_pieces
  if (!has_room || s.piece_base + s.kept > batch.group.piece_capacity) return true;
  // Those of the last threads first: the others begin with points.
  for (auto k = static_cast<unsigned>(kBatchThreads - 1 - batch.thread); k < pieces; k += kBatchThreads)
    write_batch_piece(batch, k);
  write_points(batch);
  return true;
}

}  // namespace contorno::contour_engine
