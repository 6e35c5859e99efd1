// number: the kernels that finish the joined pieces and give contours their numbers and offsets.
//
// finish_and_number is for large maps. Its first blocks finish the pieces and, if there are few contours,
// number them (heads.cuh); otherwise the remaining blocks number them by a scan (scan.cuh). join_and_number
// is for small maps: one cluster of blocks ranks the pieces and numbers the contours in a single launch.
#pragma once

#include "stages/contours/cuda/heads.cuh"
#include "stages/contours/cuda/scan.cuh"

namespace contorno::contour_engine {

static_assert(kRankThreads == kScanThreads);

union NumberShared {
  HeadsShared heads;
  ScanShared scan;
};

/// Finishes all active pieces, and numbers the contours if there are few. Called by the first `blocks` blocks
/// of the grid.
template <class P>
__device__ __forceinline__ void finish_pieces(const Job<P>& job, unsigned blocks, HeadsShared& s) {
  Counters& counters = *job.work.counters;
  for (unsigned i = (threadIdx.x / 32 * blocks + blockIdx.x) * 32 + threadIdx.x % 32; i < counters.active;
       i += blocks * kRankThreads)
    finish_in_memory(job, i);
  const unsigned heads = __ldcg(&counters.heads);
  if (are_few(job, heads)) {
    number_by_heads<P, kRankThreads>(job, heads, blocks - 1 - blockIdx.x, blocks, s);
    return;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  atomicAdd(&counters.finishing_blocks, 1U);
}

/// Numbers the contours by a scan, unless there are few. Called by the other job.scan_blocks blocks, of which
/// this one is number `block`. They wait only for blocks that began before them.
template <class P>
__device__ __forceinline__ void scan_heads(const Job<P>& job, unsigned block, ScanShared& s) {
  const Counters& counters = *job.work.counters;
  if (counters.pieces <= job.few_heads) return;
  const unsigned unit = block * kScanThreads + threadIdx.x;
  const UnitPieces pieces = unit < units_of(job) ? pieces_of(job, unit) : UnitPieces{0, 0};
  wait_for_previous();
  let_next_begin();
  if (are_few(job, __ldcg(&counters.heads))) return;
  if (threadIdx.x == 0)
    while (load_acquire(&counters.finishing_blocks) != gridDim.x - job.scan_blocks) spin_pause();
  __syncthreads();
  number_by_scan(job, block, unit, pieces, s);
}

template <class P>
__global__ void __launch_bounds__(kScanThreads) finish_and_number(const __grid_constant__ Job<P> job) {
  NumberShared& s = block_shared<NumberShared>();
  // Tracing was over before join_pieces let this kernel begin, so its counters may be read here.
  const bool overflowed = job.overflowed(*job.work.counters);
  const unsigned finishing = gridDim.x - job.scan_blocks;
  if (blockIdx.x >= finishing) {
    if (!overflowed) scan_heads(job, blockIdx.x - finishing, s.scan);
    return;
  }
  wait_for_previous();
  let_next_begin();
  if (!overflowed)
    finish_pieces(job, finishing, s.heads);
  else if (blockIdx.x == 0 && threadIdx.x == 0)
    write_overflow(job);
}

template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1) join_and_number(const __grid_constant__ Job<P> job) {
  wait_for_previous();
  let_next_begin();
  JoinShared& s = block_shared<JoinShared>();
  if (job.overflowed(*job.work.counters)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) write_overflow(job);
    return;
  }
  const unsigned units = units_of(job);
  const unsigned each = (units + gridDim.x * kJoinThreads - 1) / (gridDim.x * kJoinThreads);
  const unsigned first = (blockIdx.x * kJoinThreads + threadIdx.x) * each;
  const unsigned end = min(units, first + each);
  // Asked for early: the pieces of the first unit do not depend on the joining.
  const UnitPieces head = first < end ? pieces_of(job, first) : UnitPieces{0, 0};
  const unsigned active = job.work.counters->active;
  if (active > kJoinPlaces) {
    join_in_memory<P, kJoinThreads>(job.work, active, blockIdx.x, gridDim.x);
    cluster_sync();
    for (unsigned i = blockIdx.x * kJoinThreads + threadIdx.x; i < active; i += gridDim.x * kJoinThreads)
      finish_in_memory(job, i);
  } else if (blockIdx.x == 0 && active != 0) {
    join_in_block(job, active, s);
  }
  cluster_sync();
  const unsigned long long before = numbered_before(job, blockIdx.x);
  unsigned long long own = before + sum_of(job, head);
  for (unsigned unit = first + 1; unit < end; ++unit) own += sum_of(job, pieces_of(job, unit));
  unsigned long long running = 0;
  const unsigned long long all = block_scan(own, kJoinThreads / 32, s.warp_sums, running);
  if (threadIdx.x < gridDim.x) *remote_shared(&s.block_sums[blockIdx.x], threadIdx.x) = all;
  cluster_sync();
  running += before;
  for (unsigned b = 0; b < blockIdx.x; ++b) running += s.block_sums[b];
  for (unsigned unit = first; unit < end; ++unit)
    number_unit(job, unit, unit == first ? head : pieces_of(job, unit), running);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == kJoinThreads - 1) write_totals(job, running);
}

}  // namespace contorno::contour_engine
