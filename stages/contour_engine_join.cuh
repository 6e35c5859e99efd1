// join_pieces: ranks the pieces that cross tile borders, by pointer jumping over pieces.
//
// Reads   active, active_first, slots
// Writes  head_points and pieces of all active pieces
// Launch  cooperative; only as many blocks work as there are pieces for, the others leave at once. Few pieces
//         (kJoinShared) are done by one block in shared memory, without any wait between blocks.
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr unsigned kJoinShared = 2048;  ///< pieces that one block ranks in shared memory
inline constexpr int kJoinRounds = 58;

struct JoinShared {
  uint4 state[2][kJoinShared];
  unsigned long long chain_first[kJoinShared];
  unsigned best[2][kJoinShared];
  unsigned chain_far[kJoinShared];
};

/// Where the ranking happens, and how its threads wait for each other.
struct InBlock {
  static __device__ __forceinline__ uint4 read(const uint4* p) { return *p; }
  static __device__ __forceinline__ unsigned read(const unsigned* p) { return *p; }
  static __device__ __forceinline__ unsigned long long read(const unsigned long long* p) { return *p; }
  static __device__ __forceinline__ bool any(Counters*, int, unsigned, bool changed) {
    return __syncthreads_or(changed ? 1 : 0) != 0;
  }
};
struct InGrid {
  static __device__ __forceinline__ uint4 read(const uint4* p) { return __ldcg(p); }
  static __device__ __forceinline__ unsigned read(const unsigned* p) { return __ldcg(p); }
  static __device__ __forceinline__ unsigned long long read(const unsigned long long* p) { return __ldcg(p); }
  /// The `round`-th meeting of `blocks` blocks; whether any of them changed something.
  static __device__ bool any(Counters* counters, int round, unsigned blocks, bool changed) {
    const bool here = __syncthreads_or(changed ? 1 : 0) != 0;
    if (threadIdx.x == 0) {
      if (here) counters->changed[round] = 1;
      __threadfence();
      atomicAdd(&counters->barrier, 1U);
      while (load_acquire(&counters->barrier) < static_cast<unsigned>(round + 1) * blocks) spin_pause();
    }
    __syncthreads();
    return load_acquire(&counters->changed[round]) != 0;
  }
};

template <class Place, class P>
__device__ void join(const Job<P>& job, uint4* state0, uint4* state1, unsigned* best0, unsigned* best1,
                     unsigned long long* chain_first, unsigned* chain_far, unsigned blocks) {
  const Work<P>& work = job.work;
  const unsigned count = work.counters->active;
  const unsigned first = blockIdx.x * kJoinThreads + threadIdx.x;
  const unsigned stride = blocks * kJoinThreads;
  for (unsigned i = first; i < count; i += stride) {
    const ActivePiece piece = work.active[i];
    const bool ended = piece.exit == kNone;
    state0[i] = {ended ? i : work.slots[piece.exit], ended ? 0 : piece.count, i, 0};
    best0[i] = ended ? kNone : piece.last_id;
    chain_first[i] = ~0ULL;
    chain_far[i] = 0;
  }
  int round = 0;
  Place::any(work.counters, round++, blocks, false);
  for (bool changed = true; changed && round < kJoinRounds;) {
    changed = false;
    for (unsigned i = first; i < count; i += stride) {
      uint4 own = Place::read(&state0[i]);
      unsigned best = Place::read(&best0[i]);
      if (best != kNone) {
        const uint4 other = Place::read(&state0[own.x]);
        const unsigned other_best = Place::read(&best0[own.x]);
        if (other_best > best) {
          best = other_best;
          own.z = other.z;
          own.w = own.y + other.w;
          changed = true;
        }
        own.x = other.x;
        own.y += other.y;
      }
      state1[i] = own;
      best1[i] = best;
    }
    changed = Place::any(work.counters, round++, blocks, changed);
    uint4* const state = state0;
    state0 = state1;
    state1 = state;
    unsigned* const best = best0;
    best0 = best1;
    best1 = best;
  }
  for (unsigned i = first; i < count; i += stride) {
    const uint4 own = Place::read(&state0[i]);
    atomicMin(&chain_first[own.z], static_cast<unsigned long long>(work.active_first[i].x) << 32 | i);
    atomicMax(&chain_far[own.z], own.w);
  }
  Place::any(work.counters, round, blocks, false);
  for (unsigned i = first; i < count; i += stride) {
    const uint4 own = Place::read(&state0[i]);
    const bool closed = Place::read(&best0[i]) != kNone;
    const ActivePiece last = work.active[own.z];
    const unsigned head = static_cast<unsigned>(Place::read(&chain_first[own.z]));
    const unsigned far = Place::read(&chain_far[own.z]);
    const unsigned length = far + last.count;
    const unsigned piece = work.active_first[i].y;
    const bool kept = length + 1 >= job.min_points;
    const unsigned base = closed ? (2 * length - own.w - last.last_pos) % length : far - own.w;
    work.pieces[piece] = {base, length | (closed ? 1U << 31 : 0U),
                          kept ? work.active_first[head].y : kNone, !closed && base == 0 ? 1U : 0U};
    work.head_points[piece] = kept && head == i ? length + 1 : 0;
  }
}

template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1) join_pieces(const __grid_constant__ Job<P> job) {
  const Work<P>& work = job.work;
  const Counters& counters = *work.counters;
  const unsigned count = counters.active;
  if (count == 0 || job.overflowed(counters)) return;
  if (count <= kJoinShared) {
    if (blockIdx.x != 0) return;
    JoinShared& s = block_shared<JoinShared>();
    join<InBlock>(job, s.state[0], s.state[1], s.best[0], s.best[1], s.chain_first, s.chain_far, 1);
    return;
  }
  const unsigned blocks = min((count + kJoinThreads - 1) / kJoinThreads, gridDim.x);
  if (blockIdx.x >= blocks) return;
  join<InGrid>(job, work.state[0], work.state[1], work.best[0], work.best[1], work.chain_first, work.chain_far,
               blocks);
}

}  // namespace contorno::contour_engine
