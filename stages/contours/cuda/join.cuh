// join: ranks the pieces that cross tile borders, by pointer jumping over pieces, and says of each where in
// which contour it lies.
//
// Reads   windows and active of the active pieces, slots
// Writes  windows; chains at the highest piece of each chain; heads; then pieces and head_points
//
// In global memory the threads never wait for each other: a window is read and written whole, and whatever
// state of another piece's window is seen, both together are a window of this piece. A window that is old
// only makes a longer way. That saves a meeting of all blocks a round, which was most of the time. Up to
// kJoinPlaces pieces of a small map stay in one block's shared memory, with a barrier a round.
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr int kRankThreads = 256;
inline constexpr unsigned kJoinPlaces = 1792;  ///< pieces that one block ranks alone: what fits into 99 KiB
inline constexpr unsigned kMaxCluster = 16;
/// Up to so many pieces add themselves to their chains one by one: that is shorter, until thousands of one
/// chain wait for each other.
inline constexpr unsigned kFewPieces = 16384;

/// A chain in shared memory, where atomics of 64 bits are slow: what belongs to the first and the last id is
/// asked for when the ids are known.
struct BlockChain {
  unsigned first_id, last_id, far, count, head, from_last;
};

inline constexpr unsigned kClosedPiece = 1U << 31;  ///< of a head: the contour is this piece

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

/// The windows of a frame in global memory, as other blocks left them.
template <class P>
__device__ __forceinline__ Window window_of(const Work<P>& work, unsigned i) {
  Window window = unpack_window(load_whole(&work.windows[i]));
  if ((window.next & kInSlot) != 0) window.next = work.slots[window.next & ~kInSlot];
  return window;
}

/// Appends to `own` the window that begins where it ends. False: `own` had seen its whole chain before.
///
/// A closed chain has been seen when both have the same highest piece: the way from one to the other leads
/// past it and back to it. Until then no window holds it twice, so lengths stay below twice the chain's.
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

/// The window of piece i when its chain's end or highest piece is known.
template <class P>
__device__ __forceinline__ Window rank_in_memory(const Work<P>& work, unsigned i) {
  Window own = window_of(work, i);
  while ((own.best & kEnd) == 0 && append(own, window_of(work, own.next)))
    store_whole(&work.windows[i], pack_window(own));
  return own;
}

/// Adds `piece` to its chain. Called by whole warps; unless there are few, pieces of one chain in a warp are
/// added together.
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

/// Lists `head` where `listed`. Called by whole warps; a place is asked for here and used in `write`, so that
/// other work can be done in between.
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

/// By `blocks` blocks, this one being `block`. The first pieces go to one warp of each block.
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

/// Lists the pieces that are closed by themselves, if they are few; the blocks with the fewest pieces to join
/// begin.
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

/// What is known of a chain when all its pieces are collected.
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
    // A closed contour starts behind its largest segment: `cut` segments after the highest piece's start.
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

/// All of it, by one block.
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

/// The tile row to which a slot belongs; pieces of this row and the one above lead to it.
template <class P>
__device__ __forceinline__ int tile_row_of_slot(const Job<P>& job, unsigned slot) {
  const auto row = static_cast<int>(slot / (static_cast<unsigned>(job.tiles_x + 1) * kTileSlots));
  return row % (job.tiles_y + 1);
}

// A map that is still on its way, of which `rows` rows of tiles are traced: joins what lies in these, so that
// less is left to do behind the last byte. Slots on the last border have not been written yet. The list of
// dense tiles begins anew.
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
// Large maps; chains must be complete before pieces are finished, by the next kernel.
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
