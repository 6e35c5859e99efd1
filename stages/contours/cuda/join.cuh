// Step 7, join: list ranking of the open pieces, across borders of tiles.
//
//   Reads   piece_links (each covers its own piece), junctions, open_pieces
//   Writes  piece_links (ranked); chains at the highest piece of each chain; heads; then pieces and
//           head_points
//
// Pointer jumping as in rank.cuh, but threads do not wait for each other between rounds. A link is read and
// written as a whole, and every link that is ever stored is true: appending an old link of another piece
// gives a shorter link than the newest would, never a wrong one. This saves a barrier of the whole grid for
// every round, which took most of the time.
#pragma once

#include "stages/contours/cuda/junctions.cuh"
#include "stages/contours/cuda/number_levels.cuh"

namespace contorno::contour_engine {

inline constexpr int kRankThreads = 256;
/// Up to so many pieces, each adds itself to its chain by atomics of its own. With more of them, thousands of
/// atomics would wait at one chain, so the lanes of a warp first combine what goes to the same chain.
inline constexpr unsigned kFewPieces = 16384;
inline constexpr unsigned kClosedPiece = 1U << 31;  ///< bit in Work::heads: the contour is this one piece

__device__ __forceinline__ PieceLink unpack_link(const uint4& whole) {
  return {whole.x, whole.y, whole.z, whole.w};
}
__device__ __forceinline__ uint4 pack_link(const PieceLink& link) {
  return {link.next, link.length, link.highest, link.distance};
}

/// The link of piece i in global memory, as other blocks may just have changed it. If it still names a
/// junction, the piece there is looked up.
template <class P>
__device__ __forceinline__ PieceLink load_link(const Work<P>& work, unsigned i) {
  PieceLink link = unpack_link(load_whole(&work.piece_links[i]));
  if ((link.next & kAtJunction) != 0) link.next = work.junctions[link.next & ~kAtJunction];
  return link;
}

/// Appends `other`, the link of piece own.next, to `own`. False: `own` covered its whole chain already.
///
/// A link covers a whole closed chain as soon as it and the next link have the same highest piece. Until then
/// no link contains that piece twice, so lengths stay below twice the chain's.
__device__ __forceinline__ bool append(PieceLink& own, const PieceLink& other) {
  if (other.highest == own.highest) return false;
  if (other.highest > own.highest) {
    own.highest = other.highest;
    own.distance = own.length + other.distance;
  }
  own.length += other.length;
  own.next = other.next;
  return true;
}

/// Extends the link of piece i until it reaches the end of an open chain or covers a closed one.
template <class P>
__device__ __forceinline__ PieceLink rank_in_memory(const Work<P>& work, unsigned i) {
  PieceLink own = load_link(work, i);
  while ((own.highest & kEnd) == 0 && append(own, load_link(work, own.next)))
    store_whole(&work.piece_links[i], pack_link(own));
  return own;
}

/// Adds `piece` to its chain. Called by whole warps; unless `few`, lanes with the same chain combine their
/// values first.
template <class P>
__device__ __forceinline__ void collect(const Work<P>& work, bool valid, const OpenPiece& piece,
                                        const PieceLink& link, bool few) {
  const unsigned highest = valid ? link.highest & ~kEnd : kNone;
  unsigned first = piece.first_id;
  unsigned last = piece.last_id;
  unsigned far = link.distance;
  const unsigned peers = few ? 0 : peers_with(highest);
  if ((peers & (peers - 1)) != 0) {
    first = lowest_among(peers, first);
    last = highest_among(peers, last);
    far = highest_among(peers, far);
  }
  if (!valid) return;
  Chain& chain = work.chains[highest];
  if (first == piece.first_id)
    atomicMin(&chain.first, static_cast<unsigned long long>(first) << 32 | piece.piece);
  if (last == piece.last_id && (link.highest & kEnd) == 0)
    atomicMax(&chain.last, static_cast<unsigned long long>(last) << 32 | (link.distance - piece.last_rank));
  if (far == link.distance && far != 0) atomicMax(&chain.farthest, far);
}

/// Appends to Work::heads for each lane with `listed`, with one atomic a warp. Called by whole warps; the
/// constructor allocates the elements and `write` fills them, so that other work hides the wait for the
/// atomic.
class HeadAppend {
 public:
  template <class P>
  __device__ __forceinline__ HeadAppend(const Work<P>& work, bool listed)
      : lanes_(__ballot_sync(~0U, listed)), listed_(listed) {
    if (lanes_ != 0 && threadIdx.x % 32 == 0)
      base_ = fetch_add(&work.counters->heads, static_cast<unsigned>(__popc(lanes_)));
  }
  template <class P>
  __device__ __forceinline__ void write(const Work<P>& work, unsigned head) const {
    if (lanes_ == 0) return;
    const unsigned below = lanes_ & ((1U << threadIdx.x % 32) - 1);
    const unsigned at = __shfl_sync(~0U, base_, 0) + static_cast<unsigned>(__popc(below));
    if (listed_ && at < kMostHeads) work.heads[at] = head;
  }

 private:
  unsigned lanes_;
  bool listed_;
  unsigned base_ = 0;
};

/// Ranks and collects all `count` open pieces in global memory. Called by `blocks` blocks, of which this
/// one is number `block`; the first pieces go to one warp of each block.
template <class P, int kThreads>
__device__ void join_in_memory(const Work<P>& work, unsigned count, unsigned block, unsigned blocks) {
  for (unsigned base = (threadIdx.x / 32 * blocks + block) * 32; base < count; base += blocks * kThreads) {
    const unsigned i = base + threadIdx.x % 32;
    const bool valid = i < count;
    OpenPiece piece{};
    PieceLink link{};
    if (valid) {
      piece = work.open_pieces[i];
      link = rank_in_memory(work, i);
    }
    const HeadAppend append_head(work, valid && (link.highest & ~kEnd) == i);
    collect(work, valid, piece, link, count <= kFewPieces);
    append_head.write(work, i);
  }
}

/// Lists the closed pieces as contours, if they are few. They go to the last blocks first, which have the
/// fewest pieces to join.
template <class P, unsigned kThreads>
__device__ __forceinline__ void list_closed(const PlaneGroup<P>& group, const Counters& counters) {
  const unsigned closed = counters.pieces - counters.open_pieces;
  if (closed == 0 || closed > group.few_heads) return;
  const unsigned first = (gridDim.x - 1 - blockIdx.x) * kThreads;
  for (unsigned base = first; base < counters.pieces; base += gridDim.x * kThreads) {
    const unsigned piece = base + threadIdx.x;
    const HeadAppend append_head(group.work, piece < counters.pieces && group.work.head_points[piece] != 0);
    append_head.write(group.work, piece | kClosedPiece);
  }
}

/// Lists the closed pieces, however many they are, in NearTiles::heads; for channels that have several
/// levels.
template <class P, unsigned kThreads>
__device__ __forceinline__ void list_closed_in_strips(const PlaneGroup<P>& group, const Counters& counters) {
  const unsigned first = (gridDim.x - 1 - blockIdx.x) * kThreads + threadIdx.x;
  for (unsigned piece = first; piece < counters.pieces; piece += gridDim.x * kThreads) {
    const unsigned points = group.work.head_points[piece];
    if (points != 0) list_head(group, piece, group.work.pieces[piece].first, points);
  }
}

/// A chain when all its pieces are collected.
struct WholeChain {
  unsigned length, farthest;
  bool closed;
  unsigned head;       ///< piece with the smallest raster id
  unsigned from_last;  ///< if closed: segments from the one with the largest raster id to the highest piece
};

/// Writes down a piece: where in its contour it lies, and if it is the contour's first in raster order, how
/// many points that has. `first_id` is the piece's smallest raster id.
template <class P>
__device__ __forceinline__ void finish_piece(const PlaneGroup<P>& group, unsigned piece, unsigned first_id,
                                             const PieceLink& own, const WholeChain& chain) {
  const Work<P>& work = group.work;
  const unsigned length = chain.length;
  unsigned base = chain.farthest - own.distance;
  if (chain.closed) {
    // A closed contour starts after its largest segment: `cut` segments after the highest piece's start.
    unsigned cut = length - chain.from_last;
    if (cut >= length) cut -= length;
    base = 2 * length - own.distance - cut;
    if (base >= length) base -= length;
    if (base >= length) base -= length;
  }
  const bool kept = keep_contour(length, group.min_points);
  const unsigned closed_bit = chain.closed ? 1U << 31 : 0U;
  work.pieces[piece] = {base, length | closed_bit, kept ? chain.head : kNone,
                        !chain.closed && base == 0 ? 1U : 0U};
  const unsigned points = kept && chain.head == piece ? points_of(length) | closed_bit : 0;
  work.head_points[piece] = points;
  if (group.by_level != 0 && points != 0) list_head(group, piece, first_id, points);
}

template <class P>
__device__ __forceinline__ void finish_in_memory(const PlaneGroup<P>& group, unsigned i) {
  const Work<P>& work = group.work;
  const PieceLink own = load_link(work, i);
  const OpenPiece& open = work.open_pieces[i];
  const uint4* const chain = reinterpret_cast<const uint4*>(&work.chains[own.highest & ~kEnd]);
  const uint4 ids = load_whole(chain);
  const uint4 sizes = load_whole(chain + 1);  // farthest, count
  const bool closed = (own.highest & kEnd) == 0;
  finish_piece(group, open.piece, open.first_id, own, {sizes.x + sizes.y, sizes.x, closed, ids.x, ids.z});
}

/// Joins the pieces of large maps. The next kernel finishes them, when all chains are complete.
template <class P>
__global__ void __launch_bounds__(kRankThreads) join_pieces(const __grid_constant__ PlaneGroup<P> group) {
  wait_for_previous();
  let_next_begin();
  const Counters& counters = *group.work.counters;
  if (group.overflowed(counters)) return;
  join_in_memory<P, kRankThreads>(group.work, counters.open_pieces, blockIdx.x, gridDim.x);
  if (group.by_level != 0)
    list_closed_in_strips<P, kRankThreads>(group, counters);
  else
    list_closed<P, kRankThreads>(group, counters);
}

}  // namespace contorno::contour_engine
