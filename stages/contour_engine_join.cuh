// join: ranks the pieces that cross tile borders, by pointer jumping over pieces.
//
// Reads   active, active_first, slots
// Writes  head_points and pieces of all active pieces
//
// The state of a piece is 20 bytes; where it stands depends on how many pieces there are, which only the
// device knows: in one block's shared memory, or in global memory, where only as many blocks take part as
// there are pieces for. (Spread over the shared memory of a cluster it was slower than both.)
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr unsigned kJoinPlaces = 1792;  ///< pieces that one block ranks alone: what fits into 99 KiB
inline constexpr unsigned kMaxCluster = 16;
inline constexpr int kJoinRounds = 58;

/// follower, segments to it, representative, segments to that; largest raster id seen (kNone: the open end)
struct JoinShared {
  uint4 state[2][kJoinPlaces];
  unsigned long long chain_first[kJoinPlaces];
  unsigned best[2][kJoinPlaces];
  unsigned chain_far[kJoinPlaces];
  unsigned long long warp_sums[32];
  unsigned long long block_sums[kMaxCluster];
};

/// All pieces in this block.
struct InBlock {
  JoinShared& s;
  unsigned count;
  __device__ unsigned first() const { return threadIdx.x; }
  __device__ unsigned end() const { return count; }
  __device__ unsigned stride() const { return kJoinThreads; }
  __device__ uint4* state(int buffer, unsigned i) const { return &s.state[buffer][i]; }
  __device__ unsigned* best(int buffer, unsigned i) const { return &s.best[buffer][i]; }
  __device__ unsigned long long* chain_first(unsigned i) const { return &s.chain_first[i]; }
  __device__ unsigned* chain_far(unsigned i) const { return &s.chain_far[i]; }
  template <class V>
  static __device__ V load(const V* p) {
    return *p;
  }
  __device__ bool any(int, bool changed) const { return __syncthreads_or(changed ? 1 : 0) != 0; }
};

/// In global memory; by blocks that run at the same time (a cluster, or a cooperative launch).
template <class P>
struct InMemory {
  const Work<P>& work;
  unsigned count, blocks;
  __device__ unsigned first() const { return blockIdx.x * kJoinThreads + threadIdx.x; }
  __device__ unsigned end() const { return count; }
  __device__ unsigned stride() const { return blocks * kJoinThreads; }
  __device__ uint4* state(int buffer, unsigned i) const { return &work.state[buffer][i]; }
  __device__ unsigned* best(int buffer, unsigned i) const { return &work.best[buffer][i]; }
  __device__ unsigned long long* chain_first(unsigned i) const { return &work.chain_first[i]; }
  __device__ unsigned* chain_far(unsigned i) const { return &work.chain_far[i]; }
  template <class V>
  static __device__ V load(const V* p) {
    return __ldcg(p);
  }
  /// One word a meeting: blocks that have come, and (in the upper half) those that changed something.
  __device__ bool any(int round, bool changed) const {
    unsigned* const word = &work.counters->meetings[round];
    const unsigned here = __syncthreads_or(changed ? 1 : 0) != 0 ? 0x10001U : 1U;
    unsigned all = 0;
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(word, here);
      while (((all = load_acquire(word)) & 0xFFFFU) != blocks) spin_pause();
    }
    return __syncthreads_or(all >> 16 != 0 ? 1 : 0) != 0;
  }
};

template <class P, class Place>
__device__ void join(const Job<P>& job, const Place& place) {
  const Work<P>& work = job.work;
  for (unsigned i = place.first(); i < place.end(); i += place.stride()) {
    const ActivePiece piece = work.active[i];
    const bool ended = piece.exit == kNone;
    *place.state(0, i) = {ended ? i : work.slots[piece.exit], ended ? 0 : piece.count, i, 0};
    *place.best(0, i) = ended ? kNone : piece.last_id;
    *place.chain_first(i) = ~0ULL;
    *place.chain_far(i) = 0;
  }
  int round = 0;
  int now = 0;
  place.any(round++, false);
  for (bool changed = true; changed && round < kJoinRounds; now ^= 1) {
    changed = false;
    for (unsigned i = place.first(); i < place.end(); i += place.stride()) {
      uint4 own = Place::load(place.state(now, i));
      unsigned best = Place::load(place.best(now, i));
      if (best != kNone) {
        const uint4 other = Place::load(place.state(now, own.x));
        const unsigned other_best = Place::load(place.best(now, own.x));
        if (other_best > best) {
          best = other_best;
          own.z = other.z;
          own.w = own.y + other.w;
          changed = true;
        }
        own.x = other.x;
        own.y += other.y;
      }
      *place.state(now ^ 1, i) = own;
      *place.best(now ^ 1, i) = best;
    }
    changed = place.any(round++, changed);
  }
  for (unsigned i = place.first(); i < place.end(); i += place.stride()) {
    const uint4 own = Place::load(place.state(now, i));
    atomicMin(place.chain_first(own.z), static_cast<unsigned long long>(work.active_first[i].x) << 32 | i);
    atomicMax(place.chain_far(own.z), own.w);
  }
  place.any(round++, false);
  for (unsigned i = place.first(); i < place.end(); i += place.stride()) {
    const uint4 own = Place::load(place.state(now, i));
    const bool closed = Place::load(place.best(now, i)) != kNone;
    const ActivePiece last = work.active[own.z];
    const unsigned head = static_cast<unsigned>(Place::load(place.chain_first(own.z)));
    const unsigned far = Place::load(place.chain_far(own.z));
    const unsigned length = far + last.count;
    const unsigned piece = work.active_first[i].y;
    const bool kept = length + 1 >= job.min_points;
    const unsigned base = closed ? (2 * length - own.w - last.last_pos) % length : far - own.w;
    work.pieces[piece] = {base, length | (closed ? 1U << 31 : 0U), kept ? work.active_first[head].y : kNone,
                          !closed && base == 0 ? 1U : 0U};
    work.head_points[piece] = kept && head == i ? (length + 1) | (closed ? 1U << 31 : 0U) : 0;
  }
}

/// By blocks that all run at the same time; those that are not needed return at once.
template <class P>
__device__ void join_pieces(const Job<P>& job, JoinShared& s) {
  const unsigned count = job.work.counters->active;
  if (count <= kJoinPlaces) {
    if (blockIdx.x == 0 && count != 0) join(job, InBlock{s, count});
    return;
  }
  const unsigned blocks = min((count + kJoinThreads - 1) / kJoinThreads, gridDim.x);
  if (blockIdx.x < blocks) join(job, InMemory<P>{job.work, count, blocks});
}

/// A cooperative launch.
template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1) join_grid(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  if (!job.overflowed(*job.work.counters)) join_pieces(job, block_shared<JoinShared>());
}

}  // namespace contorno::contour_engine
