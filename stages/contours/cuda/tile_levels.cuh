// Several levels of channels: which levels each tile of a channel is near. The levels of a channel are in
// ascending order, so they are a part of them.
//
//   Reads   ranges, levels, ascending
//   Writes  tile_levels
#pragma once

#include "stages/contours/cuda/level.cuh"
#include "stages/contours/cuda/tile.cuh"

namespace contorno::contour_engine {

/// The first position in NearTiles::ascending that is of `channel` and whose level crosses no sample below
/// `value`, or is of a later channel.
template <class T, class P>
__device__ __forceinline__ unsigned first_not_below(const PlaneGroup<P>& group, int channel, double value) {
  const NearTiles& near = group.work.near;
  int begin = 0, end = group.planes;
  while (begin < end) {
    const int middle = (begin + end) / 2;
    // Positions of a channel are its planes in another order.
    const int of = near.levels[middle].channel;
    const LevelTest<T> test(group, static_cast<int>(near.ascending[middle]));
    if (of < channel || (of == channel && static_cast<double>(test.threshold) < value))
      begin = middle + 1;
    else
      end = middle;
  }
  return static_cast<unsigned>(begin);
}

/// Appends tile `tile` of all channels to the list if it is near a level. Called by whole warps; some lanes
/// may have no tile.
template <class T, class P>
__device__ __forceinline__ void list_tile_levels(const PlaneGroup<P>& group, unsigned tile) {
  const NearTiles& near = group.work.near;
  const auto plane_tiles = static_cast<unsigned>(group.tiles_x * group.tiles_y);
  const TileBounds bounds = bounds_in_channels(group, static_cast<int>(tile));
  TileLevels own{tile, 0, 0, bounds.channel, bounds.row0, bounds.col0, {}};
  if (tile < static_cast<unsigned>(near.channels) * plane_tiles) {
    const TileRange range = near.ranges[tile];
    // As is_apart: a tile is near the levels from its least sample up to but without the greatest.
    own.first = first_not_below<T>(group, bounds.channel, range.low);
    const unsigned end = first_not_below<T>(group, bounds.channel, range.high);
    own.count = end > own.first ? end - own.first : 0;
  }
  const unsigned lanes = __ballot_sync(~0U, own.count != 0);
  if (lanes == 0) return;
  const unsigned lane = threadIdx.x % 32;
  unsigned base = 0;
  if (lane == 0) base = atomicAdd(&group.work.counters->crossed_tiles, static_cast<unsigned>(__popc(lanes)));
  base = __shfl_sync(~0U, base, 0);
  if (own.count != 0)
    near.tile_levels[base + static_cast<unsigned>(__popc(lanes & ((1U << lane) - 1)))] = own;
}

}  // namespace contorno::contour_engine
