// Steps 5 and 6 of a batch of levels, rank and write: what the kernels that follow need of its segments and
// pieces.
//
//   Reads   links (of one step), segment, leader, row_begin; the samples of the crossed edges
//   Writes  what write.cuh says
//
// Points are written piece by piece, each in the order of its contour, so that scatter_points finds points
// that belong together.
#pragma once

#include "stages/contours/cuda/batch_cells.cuh"
#include "stages/contours/cuda/rank.cuh"
#include "stages/contours/cuda/write.cuh"

namespace contorno::contour_engine {

// Bits of BatchPieces::key: level, first segment, number of segments. Dropped pieces have kNone.
inline constexpr unsigned kKeyLevel = 21, kKeyFirst = 11;
static_assert(BatchLinks::kCapacity < 1U << kKeyFirst &&
              BatchLinks::kCapacity <= 1U << (kKeyLevel - kKeyFirst));
// Bits of `smallest` at representatives, when pieces have places: segments - 1, first place, number.
inline constexpr unsigned kPlaceCount = 18, kPlaceBegin = 8;
static_assert(kBatchPieces <= 1U << kPlaceBegin &&
              BatchLinks::kCapacity <= 1U << (kPlaceCount - kPlaceBegin));
inline constexpr unsigned kPlacedPiece = 21;  ///< bits of `placed`: from here on the piece

/// Ranks the links as rank_links does, but with a second array, so that a round has one barrier: each round
/// reads the one and writes the other. `own` gets the links of this thread's segments; those in the arrays
/// are not the last ones. Ends with a barrier.
template <class S, int kEach>
__device__ __forceinline__ void rank_batch_links(const LevelBatch<S>& batch, BatchLinks::Word (&own)[kEach]) {
  auto& s = batch.shared;
  unsigned *from = s.links.word, *to = s.placed;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = batch.thread + k * kBatchThreads;
    if (i >= batch.segments) break;
    own[k] = from[i];
    s.links.smallest_of(static_cast<unsigned>(i)) = kNone;
    s.largest[i] = 0;
  }
#pragma unroll 1
  for (unsigned step = 1;; step *= 2) {
    bool more = false;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int i = batch.thread + k * kBatchThreads;
      if (i >= batch.segments) break;
      more = jump<BatchLinks>(own[k], from[BatchLinks::next(own[k])], step) || more;
      to[i] = own[k];
    }
    if (__syncthreads_or(more ? 1 : 0) == 0) return;
    unsigned* const written = to;
    to = from, from = written;
  }
}

/// Ranks the links and collects the smallest and largest segment of each piece, and the leaders of closed
/// ones. Ends with a barrier.
template <class S>
__device__ __forceinline__ void rank_batch(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  constexpr int kEach = static_cast<int>(BatchLinks::kCapacity) / kBatchThreads;
  BatchLinks::Word own[kEach];
  rank_batch_links(batch, own);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = batch.thread + k * kBatchThreads;
    if (i >= batch.segments) break;
    const auto index = static_cast<unsigned>(i);
    s.links.word[i] = own[k];
    const SegmentLink link = BatchLinks::ranked_of(own[k]);
    const unsigned representative = link.highest % BatchLinks::kOpenEnd;
    atomicMin(&s.links.smallest_of(representative), index);
    atomicMax(&s.largest[representative], large_of<BatchLinks>(index, link));
    if (link.highest != index) continue;
    const unsigned leader = atomicAdd(&s.closed, 1U);
    if (leader < kBatchPieces) s.leader[kBatchPieces - 1 - leader] = static_cast<unsigned short>(i);
  }
  __syncthreads();
}

/// A piece of a batch.
struct BatchPiece {
  bool open;
  unsigned leader, representative, count;
};
/// The piece of the k-th leader: open pieces first, then closed ones.
template <class S>
__device__ __forceinline__ BatchPiece piece_of_leader(const LevelBatch<S>& batch, unsigned k) {
  const auto& s = batch.shared;
  const bool open = k < s.open;
  const unsigned leader = s.leader[open ? k : kBatchPieces - 1 - (k - s.open)];
  const SegmentLink link = s.links.ranked(leader);
  const unsigned representative = link.highest % BatchLinks::kOpenEnd;
  // Of a closed piece `largest` is the number of segments less one.
  return {open, leader, representative, 1 + (open ? link.distance : s.largest[representative])};
}

/// Writes the keys of the pieces. Ends with a barrier.
template <class S>
__device__ __forceinline__ void write_keys(const LevelBatch<S>& batch, unsigned pieces) {
  auto& s = batch.shared;
  for (auto k = static_cast<unsigned>(batch.thread); k < pieces; k += kBatchThreads) {
    const BatchPiece piece = piece_of_leader(batch, k);
    const unsigned level = s.segment[piece.leader] >> 16;
    const bool dropped = !piece.open && !keep_contour(piece.count, batch.group.min_points);
    s.pieces.key[k] =
        dropped ? kNone
                : level << kKeyLevel | s.links.smallest_of(piece.representative) << kKeyFirst | piece.count;
  }
  __syncthreads();
}

/// Pieces, and their segments.
struct PieceSum {
  unsigned pieces, segments;
};
/// Those with smaller keys.
template <class S>
__device__ __forceinline__ PieceSum sum_below(const LevelBatch<S>& batch, unsigned pieces, unsigned key) {
  PieceSum sum{0, 0};
#pragma unroll 4
  for (unsigned k = 0; k < pieces; ++k) {
    const unsigned other = batch.shared.pieces.key[k];
    if (other >= key) continue;
    ++sum.pieces;
    sum.segments += other % (1U << kKeyFirst);
  }
  return sum;
}

/// Gives pieces their places in the order of levels and first segments, and counts those of the levels
/// before each. Returns those of all levels, in one of the threads; others get 0. Without a barrier.
template <class S>
__device__ __forceinline__ PieceSum place_pieces(const LevelBatch<S>& batch, unsigned pieces) {
  auto& s = batch.shared;
  PieceSum all{0, 0};
  for (auto k = static_cast<unsigned>(batch.thread); k <= pieces + s.levels; k += kBatchThreads) {
    const bool is_level = k >= pieces;
    const unsigned key = is_level ? (k - pieces) << kKeyLevel : s.pieces.key[k];
    const PieceSum before = sum_below(batch, pieces, key);
    if (is_level) {
      s.level_pieces[k - pieces] = static_cast<unsigned short>(before.pieces);
      if (k == pieces + s.levels) all = before;
      continue;
    }
    unsigned& smallest = s.links.smallest_of(piece_of_leader(batch, k).representative);
    if (key == kNone) {
      smallest = kNone;
      continue;
    }
    s.pieces.first[before.pieces] = static_cast<unsigned short>(smallest);
    s.pieces.begin[before.pieces] = static_cast<unsigned short>(before.segments);
    smallest = (key % (1U << kKeyFirst) - 1) << kPlaceCount | before.segments << kPlaceBegin | before.pieces;
  }
  return all;
}

/// Puts the segments in the order of pieces.
template <class S>
__device__ __forceinline__ void place_segments(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
#pragma unroll 1
  for (int i = batch.thread; i < batch.segments; i += kBatchThreads) {
    const SegmentLink link = s.links.ranked(static_cast<unsigned>(i));
    const unsigned place = s.links.smallest_of(link.highest % BatchLinks::kOpenEnd);
    if (place == kNone) continue;
    const unsigned rank = rank_in_piece<BatchLinks>(link, (place >> kPlaceCount) + 1);
    const unsigned begin = place >> kPlaceBegin & ((1U << (kPlaceCount - kPlaceBegin)) - 1);
    s.placed[begin + rank] = s.segment[i] | place % (1U << kPlaceBegin) << kPlacedPiece;
  }
}

/// Writes which pieces of each level begin in which row.
template <class S>
__device__ __forceinline__ void write_level_rows(const LevelBatch<S>& batch) {
  constexpr int kRows = kTileRows + 1;
  const auto& s = batch.shared;
  for (int k = batch.thread; k < static_cast<int>(s.levels) * kRows; k += kBatchThreads) {
    const int level = k / kRows, row = k % kRows;
    const unsigned begin = s.level_pieces[level], end = s.level_pieces[level + 1];
    unsigned above = 0;
#pragma unroll 1
    for (unsigned piece = begin; piece < end; ++piece)
      above += s.pieces.first[piece] < s.row_begin[row] ? 1 : 0;
    batch.group.work
        .row_pieces[static_cast<std::size_t>(s.near_tile[level]) * kRows + static_cast<std::size_t>(row)] =
        static_cast<unsigned short>(above);
  }
}

/// Writes the piece of the k-th leader to the global arrays.
template <class S>
__device__ __forceinline__ void write_batch_piece(const LevelBatch<S>& batch, unsigned k) {
  using T = typename S::Element;
  auto& s = batch.shared;
  const auto& group = batch.group;
  const BatchPiece piece = piece_of_leader(batch, k);
  const unsigned place = s.links.smallest_of(piece.representative);
  if (place == kNone) return;
  const auto segment_at = [&](unsigned index) {
    return unpack_segment(static_cast<unsigned short>(s.segment[index]));
  };
  const unsigned number = place % (1U << kPlaceBegin);
  const unsigned first_id = raster_id(group, batch.bounds, segment_at(s.pieces.first[number]));
  const unsigned to = s.piece_base + number;
  if (!piece.open) return write_closed_piece(group.work, to, piece.count, first_id);
  const unsigned level = s.segment[piece.leader] >> 16;
  const TileSegment begin = segment_at(piece.leader), last = segment_at(piece.representative);
  const auto edge = read_edge<T>(group.map, batch.bounds, begin, begin.from);
  const auto junction = [&](const TileSegment& segment, int side) {
    return junction_at_edge(group, s.plane[level], batch.bounds.row0 + segment.row,
                            batch.bounds.col0 + segment.col, side);
  };
  const unsigned exit = is_blocked<T>(group.map, batch.bounds, last) ? kNone : junction(last, last.to);
  const unsigned largest = s.largest[piece.representative];
  const OpenPiece record{first_id, raster_id(group, batch.bounds, segment_at(largest >> kLargestShift)),
                         piece.count - 1 - largest % (1U << kLargestShift), to};
  write_open_piece(group.work, s.open_base + k, record, piece.count,
                   crossing_of<T>(group.map, s.level[level], edge), exit, junction(begin, begin.from));
}

/// Writes the points of `segments` placed segments and their ranks. While it computes points it loads the
/// samples for the next. The last warp has written the pieces, which takes as long as two rounds of points.
template <class S>
__device__ __forceinline__ void write_points(const LevelBatch<S>& batch, unsigned segments) {
  using T = typename S::Element;
  const auto& s = batch.shared;
  const auto& group = batch.group;
  if (segments == 0) return;
  const auto load = [&](unsigned i, unsigned& word) {
    word = s.placed[min(i, segments - 1)];
    const TileSegment segment = unpack_segment(static_cast<unsigned short>(word));
    return read_edge<T>(group.map, batch.bounds, segment, segment.to);
  };
  constexpr unsigned kOthers = kBatchThreads - 32, kEarly = 2 * kOthers;
  const auto next = [](unsigned i) { return i + (i < kEarly ? kOthers : kBatchThreads); };
  const auto thread = static_cast<unsigned>(batch.thread);
  unsigned i = thread < kOthers ? thread : kEarly + thread;
  unsigned word = 0;
  auto edge = load(i, word);
#pragma unroll 1
  for (; i < segments; i = next(i)) {
    const auto here = edge;
    const unsigned level = word >> 16 & 31, piece = word >> kPlacedPiece;
    edge = load(next(i), word);
    const std::size_t at = s.segment_base + static_cast<std::size_t>(i);
    store_point(group.work.points[at], crossing_of<T>(group.map, s.level[level], here));
    group.work.ranks[at] = {s.piece_base + piece, i - s.pieces.begin[piece]};
  }
}

/// Steps 5 and 6. False: there is no room for the pieces. Without a barrier at the end.
template <class S>
__device__ __forceinline__ bool write_batch(const LevelBatch<S>& batch) {
  auto& s = batch.shared;
  Counters& counters = *batch.group.work.counters;
  rank_batch(batch);
  const unsigned pieces = s.open + s.closed;
  if (pieces > kBatchPieces) return false;
  write_keys(batch, pieces);
  const PieceSum all = place_pieces(batch, pieces);
  // The answers are used late, so that other work hides the wait.
  const bool allocates = batch.thread == static_cast<int>((pieces + s.levels) % kBatchThreads);
  const unsigned segment_base = fetch_add_if(allocates, &counters.segments, all.segments);
  const unsigned long long piece_bases =
      fetch_add_if(allocates, reinterpret_cast<unsigned long long*>(&counters.pieces),
                   all.pieces | static_cast<unsigned long long>(s.open) << 32);
  if (allocates) s.sums[0] = all.segments;
  __syncthreads();
  place_segments(batch);
  write_level_rows(batch);
  if (allocates) {
    s.segment_base = segment_base;
    s.piece_base = static_cast<unsigned>(piece_bases);
    s.open_base = static_cast<unsigned>(piece_bases >> 32);
  }
  __syncthreads();
  const unsigned segments = s.sums[0], kept = s.level_pieces[s.levels];
  const bool has_room = s.segment_base + segments <= batch.group.segment_capacity;
  const bool fits = has_room && s.piece_base + kept <= batch.group.piece_capacity;
  if (batch.thread < static_cast<int>(s.levels)) {
    const unsigned begin = s.level_pieces[batch.thread];
    batch.group.work.tile_pieces[s.near_tile[batch.thread]] = {
        s.piece_base + begin, fits ? s.level_pieces[batch.thread + 1] - begin : 0};
  }
  if (batch.thread == 0 && !has_room) counters.full = 1;  // as in write_row_pieces
  if (fits) {
    // The last threads have the fewest points.
    for (auto k = static_cast<unsigned>(kBatchThreads - 1 - batch.thread); k < pieces; k += kBatchThreads)
      write_batch_piece(batch, k);
    write_points(batch, segments);
  }
  return true;
}

}  // namespace contorno::contour_engine
