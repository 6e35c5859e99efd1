// join: ranks the active pieces by pointer jumping, across tile borders, and tells each piece where in which
// contour it lies.
//
//   Reads   windows and active of the active pieces, slots
//   Writes  windows; chains at the highest piece of each chain; heads; then pieces and head_points
//
// In global memory threads do not wait for each other between rounds. A window is read and written as a
// whole, and every window that is ever stored is true: appending an old window of another piece gives a
// shorter window than the newest would, never a wrong one. This saves a barrier of the whole grid for every
// round, which took most of the time. Up to kJoinPlaces pieces of a small map are ranked in one block's
// shared memory instead, with a barrier for each round.
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr int kRankThreads = 256;
inline constexpr unsigned kJoinPlaces = 1792;  ///< pieces that one block ranks alone: what fits into 99 KiB
inline constexpr unsigned kMaxCluster = 16;
/// Up to so many pieces, each adds itself to its chain by atomics of its own. With more of them, thousands of
/// atomics would wait at one chain, so the lanes of a warp first combine what goes to the same chain.
inline constexpr unsigned kFewPieces = 16384;

/// A chain in shared memory, where atomics of 64 bits are slow: the ids are found first, then `head` and
/// `from_last` of the pieces that have them.
struct BlockChain {
  unsigned first_id, last_id, far, count, head, from_last;
};

inline constexpr unsigned kClosedPiece = 1U << 31;  ///< in Work::heads: the contour is this one piece

struct JoinShared {
  uint4 windows[2][kJoinPlaces];
  BlockChain chains[kJoinPlaces];
  unsigned long long warp_sums[32];
  unsigned long long block_sums[kMaxCluster];
};

__device__ __forceinline__ Window unpack_window(const uint4& whole) {
  return {whole.x, whole.y, whole.z, whole.w};
}
__device__ __forceinline__ uint4 pack_window(const Window& window) {
  return {window.next, window.length, window.best, window.best_at};
}

/// Window i in global memory, as other blocks may just have changed it. If it still names a slot, the slot is
/// looked up.
template <class P>
__device__ __forceinline__ Window window_of(const Work<P>& work, unsigned i) {
  Window window = unpack_window(load_whole(&work.windows[i]));
  if ((window.next & kInSlot) != 0) window.next = work.slots[window.next & ~kInSlot];
  return window;
}

/// Appends `other`, the window of piece own.next, to `own`. False: `own` covered its whole chain already.
///
/// A window covers a whole closed chain as soon as it and the next window have the same highest piece. Until
/// then no window contains that piece twice, so lengths stay below twice the chain's.
__device__ __forceinline__ bool append(Window& own, const Window& other) {
  if (other.best == own.best) return false;
  if (other.best > own.best) {
    own.best = other.best;
    own.best_at = own.length + other.best_at;
  }
  own.length += other.length;
  own.next = other.next;
  return true;
}

/// Extends the window of piece i until it reaches the end of an open chain or covers a closed one.
template <class P>
__device__ __forceinline__ Window rank_in_memory(const Work<P>& work, unsigned i) {
  Window own = window_of(work, i);
  while ((own.best & kEnd) == 0 && append(own, window_of(work, own.next)))
    store_whole(&work.windows[i], pack_window(own));
  return own;
}

/// Adds `piece` to its chain. Called by whole warps; unless `few`, lanes with the same chain combine their
/// values first.
template <class P>
__device__ __forceinline__ void collect(const Work<P>& work, bool valid, const ActivePiece& piece,
                                        const Window& window, bool few) {
  const unsigned highest = valid ? window.best & ~kEnd : kNone;
  unsigned first = piece.first_id;
  unsigned last = piece.last_id;
  unsigned far = window.best_at;
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
  if (last == piece.last_id && (window.best & kEnd) == 0)
    atomicMax(&chain.last, static_cast<unsigned long long>(last) << 32 | (window.best_at - piece.last_pos));
  if (far == window.best_at && far != 0) atomicMax(&chain.far, far);
}

/// A place in Work::heads for each lane with `listed`. Called by whole warps; the constructor takes places
/// from the counter and `write` uses them, so that other work hides the latency of the atomic.
class HeadPlace {
 public:
  template <class P>
  __device__ __forceinline__ HeadPlace(const Work<P>& work, bool listed)
      : lanes_(__ballot_sync(~0U, listed)), listed_(listed) {
    if (lanes_ != 0 && threadIdx.x % 32 == 0)
      base_ = take(&work.counters->heads, static_cast<unsigned>(__popc(lanes_)));
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

/// Ranks and collects all `count` active pieces in global memory. Called by `blocks` blocks, of which this
/// one is number `block`; the first pieces go to one warp of each block.
template <class P, int kThreads>
__device__ void join_in_memory(const Work<P>& work, unsigned count, unsigned block, unsigned blocks) {
  for (unsigned base = (threadIdx.x / 32 * blocks + block) * 32; base < count; base += blocks * kThreads) {
    const unsigned i = base + threadIdx.x % 32;
    const bool valid = i < count;
    ActivePiece piece{};
    Window window{};
    if (valid) {
      piece = work.active[i];
      window = rank_in_memory(work, i);
    }
    const HeadPlace place(work, valid && (window.best & ~kEnd) == i);
    collect(work, valid, piece, window, count <= kFewPieces);
    place.write(work, i);
  }
}

/// Lists the closed pieces as contours, if they are few. Blocks take them from the last block on, since the
/// last ones have the fewest pieces to join.
template <class P, unsigned kThreads>
__device__ __forceinline__ void list_closed(const Job<P>& job, const Counters& counters) {
  const unsigned closed = counters.pieces - counters.active;
  if (closed == 0 || closed > job.few_heads) return;
  const unsigned first = (gridDim.x - 1 - blockIdx.x) * kThreads;
  for (unsigned base = first; base < counters.pieces; base += gridDim.x * kThreads) {
    const unsigned piece = base + threadIdx.x;
    const HeadPlace place(job.work, piece < counters.pieces && job.work.head_points[piece] != 0);
    place.write(job.work, piece | kClosedPiece);
  }
}

/// A chain when all its pieces are collected.
struct WholeChain {
  unsigned length, far;
  bool closed;
  unsigned head;       ///< piece with the smallest raster id
  unsigned from_last;  ///< if closed: segments from the one with the largest raster id to the highest piece
};

/// Writes down a piece: its place in its contour, and if it is the contour's first in raster order, how many
/// points that has.
template <class P>
__device__ __forceinline__ void finish_piece(const Job<P>& job, unsigned piece, const Window& own,
                                             const WholeChain& chain) {
  const Work<P>& work = job.work;
  const unsigned length = chain.length;
  unsigned base = chain.far - own.best_at;
  if (chain.closed) {
    // A closed contour starts after its largest segment: `cut` segments after the highest piece's start.
    unsigned cut = length - chain.from_last;
    if (cut >= length) cut -= length;
    base = 2 * length - own.best_at - cut;
    if (base >= length) base -= length;
    if (base >= length) base -= length;
  }
  const bool kept = keep_contour(length, job.min_points);
  const unsigned closed_bit = chain.closed ? 1U << 31 : 0U;
  work.pieces[piece] = {base, length | closed_bit, kept ? chain.head : kNone,
                        !chain.closed && base == 0 ? 1U : 0U};
  work.head_points[piece] = kept && chain.head == piece ? points_of(length) | closed_bit : 0;
}

template <class P>
__device__ __forceinline__ void finish_in_memory(const Job<P>& job, unsigned i) {
  const Work<P>& work = job.work;
  const Window own = window_of(work, i);
  const unsigned piece = work.active[i].piece;
  const uint4* const chain = reinterpret_cast<const uint4*>(&work.chains[own.best & ~kEnd]);
  const uint4 ids = load_whole(chain);
  const uint4 sizes = load_whole(chain + 1);  // far, count
  const bool closed = (own.best & kEnd) == 0;
  finish_piece(job, piece, own, {sizes.x + sizes.y, sizes.x, closed, ids.x, ids.z});
}

/// Joins and finishes all `count` active pieces, by one block in shared memory.
template <class P>
__device__ void join_in_block(const Job<P>& job, unsigned count, JoinShared& s) {
  const Work<P>& work = job.work;
  for (unsigned i = threadIdx.x; i < count; i += kJoinThreads) {
    s.windows[0][i] = pack_window(window_of(work, i));
    s.chains[i] = {~0U, 0, 0, work.chains[i].count, 0, 0};
  }
  __syncthreads();
  int now = 0;
  for (bool changed = true; changed; now ^= 1) {
    changed = false;
    for (unsigned i = threadIdx.x; i < count; i += kJoinThreads) {
      Window own = unpack_window(s.windows[now][i]);
      if ((own.best & kEnd) == 0) changed = append(own, unpack_window(s.windows[now][own.next])) || changed;
      s.windows[now ^ 1][i] = pack_window(own);
    }
    changed = __syncthreads_or(changed ? 1 : 0) != 0;
  }
  const auto for_pieces = [&](const auto& use) {
    for (unsigned i = threadIdx.x; i < count; i += kJoinThreads) {
      const Window own = unpack_window(s.windows[now][i]);
      use(i, own, s.chains[own.best & ~kEnd]);
    }
  };
  for_pieces([&](unsigned i, const Window& own, BlockChain& chain) {
    atomicMin(&chain.first_id, work.active[i].first_id);
    atomicMax(&chain.last_id, work.active[i].last_id);
    atomicMax(&chain.far, own.best_at);
  });
  __syncthreads();
  for_pieces([&](unsigned i, const Window& own, BlockChain& chain) {
    const ActivePiece piece = work.active[i];
    if (chain.first_id == piece.first_id) chain.head = piece.piece;
    if (chain.last_id == piece.last_id) chain.from_last = own.best_at - piece.last_pos;
  });
  __syncthreads();
  for_pieces([&](unsigned i, const Window& own, const BlockChain& chain) {
    finish_piece(job, work.active[i].piece, own,
                 {chain.far + chain.count, chain.far, (own.best & kEnd) == 0, chain.head, chain.from_last});
  });
}

/// The row of tiles that owns a slot. Pieces of this row and of the row above lead to it.
template <class P>
__device__ __forceinline__ int tile_row_of_slot(const Job<P>& job, unsigned slot) {
  const auto row = static_cast<int>(slot / (static_cast<unsigned>(job.tiles_x + 1) * kTileSlots));
  return row % (job.tiles_y + 1);
}

// Joins pieces of a map that is still being uploaded and of which `rows` rows of tiles are traced, so that
// less is left to do after the last byte. Slots on the lower border of these rows are not complete yet and
// are left alone. Also clears the list of dense tiles, for the next band.
template <class P>
__global__ void __launch_bounds__(kRankThreads) join_ahead(const __grid_constant__ Job<P> job, int rows) {
  wait_for_previous();
  let_next_begin();
  const Work<P>& work = job.work;
  Counters& counters = *work.counters;
  if (blockIdx.x == 0 && threadIdx.x == 0) counters.dense_tiles = 0;
  if (job.overflowed(counters)) return;
  const auto window = [&](unsigned i) {
    Window found = unpack_window(load_whole(&work.windows[i]));
    if ((found.next & kInSlot) != 0 && tile_row_of_slot(job, found.next & ~kInSlot) < rows)
      found.next = work.slots[found.next & ~kInSlot];
    return found;
  };
  for (unsigned i = (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32; i < counters.active;
       i += gridDim.x * kRankThreads) {
    Window own = window(i);
    while ((own.best & kEnd) == 0 && (own.next & kInSlot) == 0 && append(own, window(own.next)))
      store_whole(&work.windows[i], pack_window(own));
  }
}
// Joins the pieces of large maps. The next kernel finishes them, when all chains are complete.
template <class P>
__global__ void __launch_bounds__(kRankThreads) join_pieces(const __grid_constant__ Job<P> job) {
  wait_for_previous();
  let_next_begin();
  const Counters& counters = *job.work.counters;
  if (job.overflowed(counters)) return;
  join_in_memory<P, kRankThreads>(job.work, counters.active, blockIdx.x, gridDim.x);
  list_closed<P, kRankThreads>(job, counters);
}

}  // namespace contorno::contour_engine
