// join: ranks the pieces that cross tile borders, by pointer jumping over pieces.
//
// Reads   active, active_first, slots
// Writes  head_points and pieces of all active pieces
//
// The state of a piece is 20 bytes; where it stands depends on how many pieces there are, which only the
// device knows: in one block's shared memory, in that of a cluster of blocks, or in global memory. Blocks that
// are not needed do not take part. Devices without clusters meet over a counter in global memory instead.
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr unsigned kJoinBlock = 2048;   ///< pieces that one block ranks alone
inline constexpr unsigned kJoinPlaces = 4096;  ///< pieces that a block of a cluster holds
inline constexpr unsigned kMaxCluster = 16;
inline constexpr int kJoinRounds = 58;

/// follower, segments to it, representative, segments to that; largest raster id seen (kNone: the open end)
struct JoinShared {
  uint4 state[2][kJoinPlaces];
  unsigned long long chain_first[kJoinPlaces];
  unsigned best[2][kJoinPlaces];
  unsigned chain_far[kJoinPlaces];
  unsigned changed[2][kMaxCluster];
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

/// 2^shift pieces in each block of a cluster.
struct InCluster {
  JoinShared& s;
  unsigned count, shift, blocks;
  __device__ unsigned first() const { return (blockIdx.x << shift) + threadIdx.x; }
  __device__ unsigned end() const { return min(count, (blockIdx.x + 1) << shift); }
  __device__ unsigned stride() const { return kJoinThreads; }
  template <class V>
  __device__ V* at(V* array, unsigned i) const {
    return remote_shared(array + (i & ((1U << shift) - 1)), i >> shift);
  }
  __device__ uint4* state(int buffer, unsigned i) const { return at(s.state[buffer], i); }
  __device__ unsigned* best(int buffer, unsigned i) const { return at(s.best[buffer], i); }
  __device__ unsigned long long* chain_first(unsigned i) const { return at(s.chain_first, i); }
  __device__ unsigned* chain_far(unsigned i) const { return at(s.chain_far, i); }
  template <class V>
  static __device__ V load(const V* p) {
    return *p;
  }
  __device__ bool any(int round, bool changed) const {
    const bool here = __syncthreads_or(changed ? 1 : 0) != 0;
    if (threadIdx.x < blocks) *remote_shared(&s.changed[round % 2][blockIdx.x], threadIdx.x) = here ? 1 : 0;
    cluster_sync();
    return __syncthreads_or(threadIdx.x < blocks && s.changed[round % 2][threadIdx.x] != 0 ? 1 : 0) != 0;
  }
};

/// In global memory; blocks of a cluster, or all blocks of a cooperative launch.
template <class P>
struct InMemory {
  const Work<P>& work;
  unsigned count, blocks;
  bool cluster;
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
  __device__ bool any(int round, bool changed) const {
    Counters* const counters = work.counters;
    const bool here = __syncthreads_or(changed ? 1 : 0) != 0;
    if (threadIdx.x == 0 && here) atomicAdd(&counters->changed[round], 1U);
    __threadfence();
    if (cluster) {
      cluster_sync();
    } else {
      __syncthreads();
      if (threadIdx.x == 0) {
        atomicAdd(&counters->barrier, 1U);
        while (load_acquire(&counters->barrier) < static_cast<unsigned>(round + 1) * blocks) spin_pause();
      }
      __syncthreads();
    }
    return load_acquire(&counters->changed[round]) != 0;
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
    work.head_points[piece] = kept && head == i ? length + 1 : 0;
  }
}

/// By the blocks of one cluster. Whether other blocks took part is known to all of them; nobody leaves before
/// everybody has read what it needs (the caller's next cluster_sync).
template <class P>
__device__ void join_in_cluster(const Job<P>& job, JoinShared& s) {
  const unsigned count = job.work.counters->active;
  if (count <= kJoinBlock) {
    if (blockIdx.x == 0 && count != 0) join(job, InBlock{s, count});
    return;
  }
  if (count <= gridDim.x * kJoinPlaces) {
    unsigned shift = 10;
    while (count > gridDim.x << shift) ++shift;
    cluster_sync();  // all blocks have begun: their shared memory may be touched
    join(job, InCluster{s, count, shift, gridDim.x});
    return;
  }
  join(job, InMemory<P>{job.work, count, gridDim.x, true});
}

template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1) join_cluster(const __grid_constant__ Job<P> job) {
  if (!job.overflowed(*job.work.counters)) join_in_cluster(job, block_shared<JoinShared>());
  cluster_sync();
}

/// For devices without clusters: a cooperative launch.
template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1) join_grid(const __grid_constant__ Job<P> job) {
  const Counters& counters = *job.work.counters;
  const unsigned count = counters.active;
  if (count == 0 || job.overflowed(counters)) return;
  const unsigned blocks = min((count + kJoinThreads - 1) / kJoinThreads, gridDim.x);
  if (blockIdx.x < blocks) join(job, InMemory<P>{job.work, count, blocks, false});
}

}  // namespace contorno::contour_engine
