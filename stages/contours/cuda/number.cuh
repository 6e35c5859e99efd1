// Step 8, number: the kernels that finish the joined pieces and give contours their numbers and offsets.
//
// finish_and_number is for large maps. Its first blocks finish the pieces and, if there are few contours,
// number them (number_heads.cuh); otherwise the remaining blocks number them by a scan (number_scan.cuh).
// join_and_number is for small maps: one cluster of blocks ranks the pieces and numbers the contours in a
// single launch.
#pragma once

#include "stages/contours/cuda/join_block.cuh"
#include "stages/contours/cuda/number_heads.cuh"
#include "stages/contours/cuda/number_scan.cuh"

namespace contorno::contour_engine {

static_assert(kRankThreads == kScanThreads);

union NumberShared {
  HeadsShared heads;
  ScanShared scan;
};

/// Finishes all open pieces, and numbers the contours if there are few. Called by the first `blocks` blocks
/// of the grid.
template <class P>
__device__ __forceinline__ void finish_pieces(const PlaneGroup<P>& group, unsigned blocks, HeadsShared& s) {
  Counters& counters = *group.work.counters;
  for (unsigned i = (threadIdx.x / 32 * blocks + blockIdx.x) * 32 + threadIdx.x % 32;
       i < counters.open_pieces; i += blocks * kRankThreads)
    finish_in_memory(group, i);
  const unsigned heads = __ldcg(&counters.heads);
  if (are_few(group, heads)) {
    number_by_heads<P, kRankThreads>(group, heads, blocks - 1 - blockIdx.x, blocks, s);
    return;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  atomicAdd(&counters.finishing_blocks, 1U);
}

/// Numbers the contours by a scan, unless there are few. Called by the other group.scan_blocks blocks, of
/// which this one is number `block`. They wait only for blocks that began before them.
template <class P>
__device__ __forceinline__ void scan_heads(const PlaneGroup<P>& group, unsigned block, ScanShared& s) {
  const Counters& counters = *group.work.counters;
  if (counters.pieces <= group.few_heads) return;
  const unsigned unit = block * kScanThreads + threadIdx.x;
  const UnitPieces pieces = unit < units_of(group) ? pieces_of(group, unit) : UnitPieces{0, 0};
  wait_for_previous();
  let_next_begin();
  if (are_few(group, __ldcg(&counters.heads))) return;
  if (threadIdx.x == 0)
    while (load_acquire(&counters.finishing_blocks) != gridDim.x - group.scan_blocks) spin_pause();
  __syncthreads();
  number_by_scan(group, block, unit, pieces, s);
}

template <class P>
__global__ void __launch_bounds__(kScanThreads)
    finish_and_number(const __grid_constant__ PlaneGroup<P> group) {
  NumberShared& s = block_shared<NumberShared>();
  // Tracing was over before join_pieces let this kernel begin, so its counters may be read here.
  const bool overflowed = group.overflowed(*group.work.counters);
  const unsigned finishing = gridDim.x - group.scan_blocks;
  if (blockIdx.x >= finishing) {
    if (!overflowed) scan_heads(group, blockIdx.x - finishing, s.scan);
    return;
  }
  wait_for_previous();
  let_next_begin();
  if (!overflowed)
    finish_pieces(group, finishing, s.heads);
  else if (blockIdx.x == 0 && threadIdx.x == 0)
    write_overflow(group);
}

/// Joins and finishes all open pieces, by the blocks of one cluster. Ends with a barrier of the cluster.
template <class P>
__device__ __forceinline__ void join_in_cluster(const PlaneGroup<P>& group, JoinShared& s) {
  const unsigned count = group.work.counters->open_pieces;
  if (count > kJoinCapacity) {
    join_in_memory<P, kJoinThreads>(group.work, count, blockIdx.x, gridDim.x);
    cluster_sync();
    for (unsigned i = blockIdx.x * kJoinThreads + threadIdx.x; i < count; i += gridDim.x * kJoinThreads)
      finish_in_memory(group, i);
  } else if (blockIdx.x == 0 && count != 0) {
    join_in_block(group, count, s);
  }
  cluster_sync();
}

template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1)
    join_and_number(const __grid_constant__ PlaneGroup<P> group) {
  wait_for_previous();
  let_next_begin();
  JoinShared& s = block_shared<JoinShared>();
  if (group.overflowed(*group.work.counters)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) write_overflow(group);
    return;
  }
  const unsigned units = units_of(group);
  const unsigned each = (units + gridDim.x * kJoinThreads - 1) / (gridDim.x * kJoinThreads);
  const unsigned first = (blockIdx.x * kJoinThreads + threadIdx.x) * each;
  const unsigned end = min(units, first + each);
  // Asked for early: the pieces of the first unit do not depend on the joining.
  const UnitPieces head = first < end ? pieces_of(group, first) : UnitPieces{0, 0};
  join_in_cluster(group, s);
  // An exclusive scan over the cluster: each block tells all others its sum.
  const unsigned long long before = numbered_before(group, blockIdx.x);
  unsigned long long own = before + sum_of(group, head);
  for (unsigned unit = first + 1; unit < end; ++unit) own += sum_of(group, pieces_of(group, unit));
  unsigned long long running = 0;
  const unsigned long long all = block_exclusive_scan(own, kJoinThreads / 32, s.warp_sums, running);
  if (threadIdx.x < gridDim.x) *remote_shared(&s.block_sums[blockIdx.x], threadIdx.x) = all;
  cluster_sync();
  running += before;
  for (unsigned b = 0; b < blockIdx.x; ++b) running += s.block_sums[b];
  for (unsigned unit = first; unit < end; ++unit)
    number_unit(group, unit, unit == first ? head : pieces_of(group, unit), running);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == kJoinThreads - 1) write_totals(group, running);
}

}  // namespace contorno::contour_engine
