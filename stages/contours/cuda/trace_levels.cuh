// Steps 1 to 6 where channels have several levels and maps are large: a block traces a tile at many levels
// together.
//
//   Reads   crossed, and what level_batch.cuh and batch_samples.cuh say
//   Writes  what write.cuh says; left
//
// A warp for each tile and level would have few segments, so most of its instructions would be those that
// each tile costs. Here threads work on the crossings of all levels. Levels are taken in batches for which
// there is room; near tiles that are unusual or have more crossings or pieces than fit are left to
// trace_warps.
#pragma once

#include "stages/contours/cuda/batch_pieces.cuh"

namespace contorno::contour_engine {

/// Appends near tiles to those that are left: of the `count` levels from position `first` on, the ones with a
/// bit in `which`. Called by the first warp.
template <class S>
__device__ __forceinline__ void leave_levels(const LevelBatch<S>& batch, unsigned first, unsigned count,
                                             unsigned which) {
  const auto lane = static_cast<unsigned>(batch.thread);
  const bool leaves = lane < count && (which >> lane & 1) != 0;
  const unsigned lanes = __ballot_sync(~0U, leaves);
  unsigned base = 0;
  if (lane == 0) base = atomicAdd(&batch.group.work.counters->left, static_cast<unsigned>(__popc(lanes)));
  base = __shfl_sync(~0U, base, 0);
  if (leaves)
    batch.group.work.near.left[base + static_cast<unsigned>(__popc(lanes & ((1U << lane) - 1)))] =
        batch.tile_levels->offset + first + lane;
}

/// Traces a tile at `count` levels. False: they do not fit; nothing is written. `skipped` gets a bit for each
/// level that is left to trace_warps. Which levels are unusual is known when crossings are computed; then the
/// others are traced again.
template <class S>
__device__ __forceinline__ bool trace_batch(LevelBatch<S>& batch, unsigned first, unsigned count,
                                            unsigned& skipped) {
  const auto& s = batch.shared;
  for (skipped = 0;;) {
    if (!read_batch(batch, first, count, skipped)) {
      skipped = ~0U;
      return true;
    }
    skipped = s.left_out;
    if (s.levels == 0) return true;
    list_crossings(batch);
    if (s.crossings > kBatchCrossings) return false;
    link_crossings(batch);
    if (!follow_pieces(batch)) return false;
    if (s.unusual == 0) break;
    skipped |= s.unusual;
  }
  write_batch(batch);
  return true;
}

/// Traces a tile at all levels that it is near.
template <class S>
__device__ __forceinline__ void trace_tile_levels(LevelBatch<S>& batch, unsigned first, unsigned end) {
  unsigned most = kBatchLevels;
  while (first < end) {
    const unsigned count = min(end - first, most);
    unsigned skipped = 0;
    if (!trace_batch(batch, first, count, skipped)) {
      most = count / 2;
      if (count > 1) continue;
      skipped = most = 1;
    }
    if (skipped != 0 && batch.thread < 32) leave_levels(batch, first, count, skipped);
    first += count;
  }
}

template <class T, class P>
__global__ void __launch_bounds__(kBatchThreads, kBatchBlocks)
    trace_levels(const __grid_constant__ PlaneGroup<P> group) {
  let_next_begin();
  wait_for_previous();
  BatchShared<T, P>& s = block_shared<BatchShared<T, P>>();
  Counters& counters = *group.work.counters;
  // If the near tiles do not fit, nothing is traced; the frame runs again with more room.
  const unsigned tiles = near_tile_count(group) == 0 ? 0 : counters.crossed_tiles;
  if (threadIdx.x == 0) s.next_tile = atomicAdd(&counters.taken_tiles, 1U);
  __syncthreads();
  // The last tiles first: their samples were read last and mostly still are in the second-level cache.
  for (unsigned taken = s.next_tile; taken < tiles; taken = s.next_tile) {
    // Which tile is next is asked early; the first warp tells the others while their samples arrive.
    const unsigned next_tile = fetch_add_if(threadIdx.x == 0, &counters.taken_tiles, 1U);
    LevelBatch<BatchTypes<T, P>> batch(group, s, &group.work.near.crossed[tiles - 1 - taken], next_tile);
    trace_tile_levels(batch, batch.tile_levels->first, batch.tile_levels->first + batch.tile_levels->count);
  }
}

}  // namespace contorno::contour_engine
