// Several levels of a channel, in a tile: how some of them, a batch, are read together (steps 1 and 2).
//
//   Reads   tile_levels, ascending, levels, ranges; the tile's 65 x 33 samples
//   Writes  the batch's levels, and of each sample its rank: how many of them it is above
//
// With levels in ascending order a sample is above the first `rank` of them and no others. So the ranks of a
// cell's four corners tell which levels cross the cell, and a segment is named by its cell and its level.
// Only usual levels are worked on here: those at which links follow edges, in tiles whose samples are all
// finite and used. The others are left to trace_warps. Each sample is compared with the levels next to it;
// only if it is too near to one, as far as floats tell, is every level looked at (find_unusual).
#pragma once

#include "stages/contours/cuda/link.cuh"
#include "stages/contours/cuda/near_tiles.cuh"
#include "stages/contours/cuda/read_block.cuh"

namespace contorno::contour_engine {

/// Threads of a block, and blocks of a multiprocessor that their registers leave room for. The warps have
/// parts of their own in TileSamples.
inline constexpr int kBatchThreads = 128, kBatchBlocks = 6;
/// Levels of a batch, at most: a lane and a bit each, numbers of five bits, and a search by halves.
inline constexpr int kBatchLevels = 31;
/// Pieces of a batch, at most; of segments BatchLinks has the number. Where there are more, the batch is
/// halved (trace_levels.cuh).
inline constexpr unsigned kBatchPieces = 256;
static_assert(kBatchThreads == 4 * 32 && kBatchLevels < 32 && (kBatchLevels & (kBatchLevels + 1)) == 0);
inline constexpr int kRankPitch = kTileColumns + 4;  ///< ranks of a row of samples, in whole words
inline constexpr int kRanks = (kTileRows + 1) * kRankPitch;
using BatchLinks = PackedLinks<10, 1024>;

/// The pieces of a batch in the order of levels, then of first segments.
struct BatchPieces {
  unsigned key[kBatchPieces];          ///< in the order of leaders, see piece_key
  unsigned short first[kBatchPieces];  ///< first segment
  unsigned short begin[kBatchPieces];  ///< segments of all pieces before
};

/// What the threads of a batch share. A segment is numbered by its cell, then by its level.
template <class T>
struct BatchShared {
  using Value = typename Sample<T>::Value;
  static constexpr unsigned kSegments = BatchLinks::kCapacity;
  static constexpr int kCentres = Sample<T>::kInteger ? kBatchLevels + 2 : 1;
  double level[kBatchLevels];
  Value threshold[kBatchLevels + 2];  ///< of level k at k + 1, between -infinity and infinity
  Value centre[kCentres];             ///< the same of LevelTest::centre, of integers
  Value usual_above;                  ///< levels at a smaller distance from a sample may be unusual
  int plane[kBatchLevels];
  unsigned near_tile[kBatchLevels];  ///< number of the near tile
  unsigned levels, unusual;          ///< number of levels; a bit for each that is unusual
  unsigned sums[kBatchThreads / 32];
  unsigned open, closed, segment_base, piece_base, open_base;
  unsigned short row_begin[kTileRows + 1];        ///< first segment of each row of cells
  unsigned short level_pieces[kBatchLevels + 1];  ///< pieces of all levels before
  union {
    unsigned rank_words[kRanks / 4];
    unsigned char rank[kRanks];  ///< of samples, until their segments are linked
    BatchPieces pieces;
  };
  union {
    uint4 offset_words[kTileRows * kTileColumns / 8];
    unsigned short offset[kTileRows * kTileColumns];  ///< first segment of each cell, until these are linked
    unsigned largest[kSegments];                      ///< as in TileShared
  };
  BatchLinks links;
  unsigned segment[kSegments];          ///< see pack_segment; from bit 16 on the level
  unsigned placed[kSegments];           ///< the same, piece by piece; from bit 21 on the piece
  unsigned short leader[kBatchPieces];  ///< as in TileShared

  __device__ __forceinline__ const Value* centres() const {
    if constexpr (Sample<T>::kInteger)
      return centre;
    else
      return threshold;
  }
};

/// A batch as one of its threads sees it. S is a TileTypes.
template <class S>
struct LevelBatch {
  const PlaneGroup<typename S::Point>& group;
  BatchShared<typename S::Element>& shared;
  const TileBounds bounds;  ///< of plane 0; `tile` is the number among the tiles of all channels
  const int thread;
  int segments = 0;

  __device__ __forceinline__ LevelBatch(const PlaneGroup<typename S::Point>& group,
                                        BatchShared<typename S::Element>& shared, const TileLevels& at)
      : group(group),
        shared(shared),
        bounds{.tile = static_cast<int>(at.tile),
               .plane = 0,
               .channel = at.channel,
               .row0 = at.row0,
               .col0 = at.col0,
               .rows = min(kTileRows, group.cell_rows - at.row0),
               .columns = min(kTileColumns, group.cell_columns - at.col0)},
        thread(static_cast<int>(threadIdx.x)) {}

  /// The near tile of a plane.
  __device__ __forceinline__ unsigned near_tile(unsigned plane) const {
    return near_before(group.work.near, plane,
                       static_cast<unsigned>(bounds.tile - bounds.channel * (group.tiles_x * group.tiles_y)));
  }
};

/// What a lane of the first warp loads of a level.
template <class S>
struct LoadedLevel {
  unsigned plane, near_tile;
  LevelEntry entry;
  TileRange range;

  /// The lane's level, of `count` (1 to kBatchLevels) from position `first` of NearTiles::ascending on.
  __device__ __forceinline__ void load(const LevelBatch<S>& batch, unsigned first, unsigned count) {
    const NearTiles& near = batch.group.work.near;
    const unsigned position = first + min(static_cast<unsigned>(batch.thread) % 32, count - 1);
    range = near.ranges[batch.bounds.tile];
    plane = near.ascending[position];
    entry = near.levels[plane];
    near_tile = batch.near_tile(plane);
  }
};

/// Shares the levels of a batch: of `count` that are loaded those that have no bit in `skip`. Called by the
/// first warp.
template <class S>
__device__ __forceinline__ void share_levels(const LevelBatch<S>& batch, const LoadedLevel<S>& own,
                                             unsigned count, unsigned skip) {
  using T = typename S::Element;
  using Value = typename S::Value;
  auto& s = batch.shared;
  const auto lane = static_cast<unsigned>(batch.thread);
  const bool used = lane < count && (skip >> lane & 1) == 0;
  const unsigned lanes = __ballot_sync(~0U, used);
  const auto levels = static_cast<unsigned>(__popc(lanes));
  const auto to = static_cast<unsigned>(__popc(lanes & ((1U << lane) - 1)));
  if (lane == 0) s.threshold[0] = static_cast<Value>(-INFINITY);
  if (lane >= levels) s.threshold[lane + 1] = static_cast<Value>(INFINITY);
  if constexpr (Sample<T>::kInteger) {
    if (lane == 0) s.centre[0] = static_cast<Value>(-INFINITY);
    if (lane >= levels) s.centre[lane + 1] = static_cast<Value>(INFINITY);
  }
  bool finite = true;
  unsigned above = 0;
  if (used) {
    const LevelTest<T> test(batch.group.map, own.entry);
    const unsigned most = float_bits_above(fmax(test.distance(static_cast<Value>(own.range.low)),
                                                test.distance(static_cast<Value>(own.range.high))));
    finite = test.are_finite(most);
    above = float_bits_above(test.usual_above(most));
    s.threshold[to + 1] = test.threshold;
    if constexpr (Sample<T>::kInteger) s.centre[to + 1] = test.centre;
    s.level[to] = own.entry.level;
    s.plane[to] = static_cast<int>(own.plane);
    s.near_tile[to] = own.near_tile;
  }
  above = highest_of_warp(above);
  const bool all_finite = __any_sync(~0U, finite ? 0 : 1) == 0;
  if (lane != 0) return;
  s.usual_above = static_cast<Value>(__uint_as_float(above));
  s.levels = levels;
  s.unusual = all_finite ? 0 : ~0U;
  s.open = s.closed = 0;
}

template <class S>
using BatchSamples = TileSamples<typename S::Element, kBatchThreads>;

/// Writes the ranks of the samples. Returns whether a level may be unusual because of this thread's.
template <class S>
__device__ __forceinline__ bool rank_samples(const LevelBatch<S>& batch, const BatchSamples<S>& samples) {
  using Value = typename S::Value;
  constexpr int kEach = BatchSamples<S>::kExtra + 1;
  auto& s = batch.shared;
  const auto at = [](const Value* values, unsigned bytes, int further) {
    return *reinterpret_cast<const Value*>(reinterpret_cast<const char*>(values + further) + bytes);
  };
  constexpr auto kOne = static_cast<unsigned>(sizeof(Value));
  unsigned rank[kEach] = {};  // in bytes of thresholds, so that they are addresses
#pragma unroll
  for (int step = (kBatchLevels + 1) / 2; step > 0; step /= 2) {
    if (step > static_cast<int>(s.levels)) continue;
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (samples.value[k] > at(s.threshold, rank[k], step)) rank[k] += static_cast<unsigned>(step) * kOne;
  }
  bool usual = samples.used == ~0U;
  const Value* const centres = s.centres();
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const auto v = samples.value[k];
    usual = usual && fmin(v - at(centres, rank[k], 0), at(centres, rank[k], 1) - v) > s.usual_above;
  }
  const int lane = batch.thread % 32, warp = batch.thread / 32;
  unsigned char* const rows = s.rank + warp * BatchSamples<S>::kRows * kRankPitch + lane;
#pragma unroll
  for (int k = 0; k < BatchSamples<S>::kExtra; ++k)
    rows[k / 2 * kRankPitch + k % 2 * 32] = static_cast<unsigned char>(rank[k] / kOne);
  // As TileSamples says.
  const int row = warp == 2 ? lane : kTileRows, col = warp < 2 ? warp * 32 + lane : kTileColumns;
  s.rank[row * kRankPitch + col] = static_cast<unsigned char>(rank[BatchSamples<S>::kExtra] / kOne);
  return !usual;
}

/// Whether a level is usual beside this thread's samples. Floats are compared with the level itself, not with
/// what it is rounded to: among hundreds of levels that would be too near to a sample of every other tile.
template <class S>
__device__ __forceinline__ bool is_usual_at(const LevelBatch<S>& batch, const BatchSamples<S>& samples,
                                            unsigned level) {
  const auto& s = batch.shared;
  bool usual = true;
  if constexpr (Sample<typename S::Element>::kInteger) {
#pragma unroll
    for (const auto v : samples.value) usual = usual && fabs(s.centre[level + 1] - v) > s.usual_above;
  } else {
    const TileRange range = batch.group.work.near.ranges[batch.bounds.tile];
    const double at = s.level[level];
    const double above = fmax(range.high - at, at - range.low) * kLeastOfGreatest;
#pragma unroll
    for (const auto v : samples.value) usual = usual && fabs(at - static_cast<double>(v)) > above;
  }
  return usual;
}

/// Finds the unusual levels, as bits. This code runs seldom. The batch is copied, so that the caller's stays
/// in registers.
template <class S>
__device__ __noinline__ unsigned find_unusual(const LevelBatch<S> batch) {
  auto& s = batch.shared;
  BatchSamples<S> samples;
  samples.load(batch.group, batch.bounds);
  unsigned bits = samples.used == ~0U ? 0 : ~0U;
#pragma unroll 1
  for (unsigned level = 0; level < s.levels; ++level)
    bits |= (is_usual_at(batch, samples, level) ? 0U : 1U) << level;
  atomicOr(&s.unusual, bits);
  __syncthreads();
  bits = s.unusual;
  __syncthreads();
  return bits;
}

/// Loads a batch and ranks the samples. Returns the levels that are left out, as bits. Ends with a barrier,
/// and begins with one after which the threads share what is of this batch.
template <class S>
__device__ __forceinline__ unsigned read_batch(const LevelBatch<S>& batch, unsigned first, unsigned count) {
#pragma unroll 1
  for (unsigned skip = 0;;) {
    BatchSamples<S> samples;
    samples.load(batch.group, batch.bounds);
    LoadedLevel<S> level;
    if (batch.thread < 32) level.load(batch, first, count);
    __syncthreads();
    if (batch.thread < 32) share_levels(batch, level, count, skip);
    __syncthreads();
    const bool unusual = rank_samples(batch, samples) || batch.shared.unusual != 0;
    // Without the unusual levels no sample is nearer to one than before, so there is no third round.
    if (__syncthreads_or(unusual ? 1 : 0) == 0 || skip != 0) return skip;
    skip = find_unusual<S>(batch);
    if (skip == 0) return 0;
  }
}

}  // namespace contorno::contour_engine
