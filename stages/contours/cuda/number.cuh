// Step 8, number: the kernel that finishes the joined pieces and gives contours their numbers and offsets.
// Its first blocks finish the pieces and, if there are few contours, number them (number_heads.cuh);
// otherwise the remaining blocks number them by a scan (number_scan.cuh).
#pragma once

#include "stages/contours/cuda/number_heads.cuh"
#include "stages/contours/cuda/number_scan.cuh"

namespace contorno::contour_engine {

static_assert(kRankThreads == kScanThreads);

union NumberShared {
  HeadsShared heads;
  ChunkShared scan;
};

/// Finishes all open pieces, and numbers the contours if there are few. Called by the first `blocks` blocks
/// of the grid.
template <class P>
__device__ __forceinline__ void finish_pieces(const PlaneGroup<P>& group, unsigned blocks, HeadsShared& s) {
  Counters& counters = *group.work.counters;
  for (unsigned i = (threadIdx.x / 32 * blocks + blockIdx.x) * 32 + threadIdx.x % 32;
       i < counters.open_pieces; i += blocks * kRankThreads)
    finish_in_memory(group, i);
  if (group.by_level != 0) return;  // number_levels does it
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
__device__ __forceinline__ void scan_heads(const PlaneGroup<P>& group, unsigned block, ChunkShared& s) {
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

}  // namespace contorno::contour_engine
