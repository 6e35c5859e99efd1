// join: ranks the pieces that cross tile borders, by pointer jumping over pieces.
//
// Reads   active, active_first, slots
// Writes  head_points and pieces of all active pieces
//
// The state of a piece is 20 bytes; where it stands depends on how many pieces there are, which only the
// device knows: in one block's shared memory, or in global memory, where only as many blocks take part as there
// are pieces for. (Spread over the shared memory of a cluster it was slower than both.)
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr unsigned kJoinPlaces = 4096;  ///< pieces that one block ranks alone
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

inline constexpr unsigned kJoinEach = 4;  ///< pieces whose loads a thread has in flight together

/// Calls `use(i, k)` for up to kJoinEach pieces of this thread, beginning with `start`.
template <class Place, class Use>
__device__ __forceinline__ void for_each_of(const Place& place, unsigned start, const Use& use) {
#pragma unroll
  for (unsigned k = 0; k < kJoinEach; ++k) {
    const unsigned i = start + k * place.stride();
    if (i < place.end()) use(i, k);
  }
}

template <class P, class Place>
__device__ __forceinline__ void begin_join(const Job<P>& job, const Place& place, unsigned start) {
  ActivePiece piece[kJoinEach];
  unsigned next[kJoinEach];
  for_each_of(place, start, [&](unsigned i, unsigned k) { piece[k] = job.work.active[i]; });
  for_each_of(place, start, [&](unsigned i, unsigned k) {
    next[k] = piece[k].exit == kNone ? i : job.work.slots[piece[k].exit];
  });
  for_each_of(place, start, [&](unsigned i, unsigned k) {
    const bool ended = piece[k].exit == kNone;
    *place.state(0, i) = {next[k], ended ? 0 : piece[k].count, i, 0};
    *place.best(0, i) = ended ? kNone : piece[k].last_id;
    *place.chain_first(i) = ~0ULL;
    *place.chain_far(i) = 0;
  });
}

/// One jump; whether any window grew a larger key.
template <class Place>
__device__ __forceinline__ bool jump(const Place& place, unsigned start, int now) {
  uint4 own[kJoinEach];
  uint4 other[kJoinEach];
  unsigned best[kJoinEach];
  unsigned other_best[kJoinEach];
  bool changed = false;
  for_each_of(place, start, [&](unsigned i, unsigned k) {
    own[k] = Place::load(place.state(now, i));
    best[k] = Place::load(place.best(now, i));
  });
  for_each_of(place, start, [&](unsigned, unsigned k) {
    other[k] = Place::load(place.state(now, own[k].x));
    other_best[k] = Place::load(place.best(now, own[k].x));
  });
  for_each_of(place, start, [&](unsigned i, unsigned k) {
    if (best[k] != kNone) {
      if (other_best[k] > best[k]) {
        best[k] = other_best[k];
        own[k].z = other[k].z;
        own[k].w = own[k].y + other[k].w;
        changed = true;
      }
      own[k].x = other[k].x;
      own[k].y += other[k].y;
    }
    *place.state(now ^ 1, i) = own[k];
    *place.best(now ^ 1, i) = best[k];
  });
  return changed;
}

template <class P, class Place>
__device__ __forceinline__ void finish_join(const Job<P>& job, const Place& place, unsigned start, int now) {
  const Work<P>& work = job.work;
  uint4 own[kJoinEach];
  ActivePiece last[kJoinEach];
  uint2 first[kJoinEach];
  unsigned head[kJoinEach];
  unsigned head_piece[kJoinEach];
  for_each_of(place, start, [&](unsigned i, unsigned k) {
    own[k] = Place::load(place.state(now, i));
    first[k] = work.active_first[i];
  });
  for_each_of(place, start, [&](unsigned, unsigned k) {
    last[k] = work.active[own[k].z];
    head[k] = static_cast<unsigned>(Place::load(place.chain_first(own[k].z)));
  });
  for_each_of(place, start, [&](unsigned, unsigned k) { head_piece[k] = work.active_first[head[k]].y; });
  for_each_of(place, start, [&](unsigned i, unsigned k) {
    const bool closed = Place::load(place.best(now, i)) != kNone;
    const unsigned far = Place::load(place.chain_far(own[k].z));
    const unsigned length = far + last[k].count;
    const bool kept = length + 1 >= job.min_points;
    const unsigned base = closed ? (2 * length - own[k].w - last[k].last_pos) % length : far - own[k].w;
    work.pieces[first[k].y] = {base, length | (closed ? 1U << 31 : 0U), kept ? head_piece[k] : kNone,
                               !closed && base == 0 ? 1U : 0U};
    work.head_points[first[k].y] = kept && head[k] == i ? (length + 1) | (closed ? 1U << 31 : 0U) : 0;
  });
}

template <class P, class Place>
__device__ void join(const Job<P>& job, const Place& place) {
  const unsigned step = kJoinEach * place.stride();
  for (unsigned i = place.first(); i < place.end(); i += step) begin_join(job, place, i);
  int round = 0;
  int now = 0;
  place.any(round++, false);
  for (bool changed = true; changed && round < kJoinRounds; now ^= 1) {
    changed = false;
    for (unsigned i = place.first(); i < place.end(); i += step) changed |= jump(place, i, now);
    changed = place.any(round++, changed);
  }
  for (unsigned i = place.first(); i < place.end(); i += place.stride()) {
    const uint4 own = Place::load(place.state(now, i));
    atomicMin(place.chain_first(own.z), static_cast<unsigned long long>(job.work.active_first[i].x) << 32 | i);
    atomicMax(place.chain_far(own.z), own.w);
  }
  place.any(round++, false);
  for (unsigned i = place.first(); i < place.end(); i += step) finish_join(job, place, i, now);
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
  if (!job.overflowed(*job.work.counters)) join_pieces(job, block_shared<JoinShared>());
}

}  // namespace contorno::contour_engine
