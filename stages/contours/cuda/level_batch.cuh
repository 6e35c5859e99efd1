// Several levels of a channel, in a tile: what the threads of a block share while they trace some of them
// together, a batch, and how its levels get there.
//
//   Reads   NearTiles: crossed, offsets, levels
//   Writes  the batch's levels
//
// Only usual levels are worked on here: those of which no crossing falls on a sample, so that links follow
// edges, in tiles whose samples are all finite and used. The others are left to trace_warps.
//
// The levels divide the values into intervals. A sample's interval is how many of the batch's levels it is
// above.
#pragma once

#include "stages/contours/cuda/junctions.cuh"
#include "stages/contours/cuda/level.cuh"

namespace contorno::contour_engine {

/// Threads of a block, and blocks of a multiprocessor that registers and shared memory (sizeof(BatchShared),
/// some 27 KB for float32) leave room for.
inline constexpr int kBatchThreads = 128, kBatchWarps = kBatchThreads / 32, kBatchBlocks = 8;
/// Levels of a batch, at most: each has a lane and a bit; a sample's interval, 0 to 31, is found in five
/// halvings, so the number is 2^n - 1.
inline constexpr int kBatchLevels = 31;
/// Crossings and pieces of a batch, at most. Where there are more, the batch is halved (trace_levels.cuh).
inline constexpr unsigned kBatchCrossings = 1024, kBatchPieces = 128;
static_assert(kBatchLevels < 32 && (kBatchLevels & (kBatchLevels + 1)) == 0);
/// Samples of a tile have places, row * kPitch + column; the intervals of a row are whole words. Cells have
/// the places of their upper left samples.
inline constexpr int kPitch = kTileColumns + 4, kPlaces = (kTileRows + 1) * kPitch;
inline constexpr unsigned kPlaceBits = 12, kPlaceMask = (1U << kPlaceBits) - 1;
static_assert(kPlaces <= kPlaceMask);

__device__ __forceinline__ int row_of_place(unsigned place) {
  constexpr unsigned kShift = 14, kFactor = ((1U << kShift) + kPitch - 1) / kPitch;
  static_assert(kPlaces * (kFactor * kPitch - (1U << kShift)) < 1U << kShift);  // a division, exactly
  return static_cast<int>(place * kFactor >> kShift);
}

/// A crossing: one of the batch's levels crosses a grid edge of the tile. (row, col) is the edge's upper or
/// left sample, in the tile, and `across` is as in GridEdge.
struct EdgeCrossing {
  int place, row, col;
  bool across;
  unsigned level;
};
__device__ __forceinline__ unsigned pack_crossing(unsigned place, bool across, unsigned level) {
  return place | (across ? 1U << kPlaceBits : 0) | level << (kPlaceBits + 1);
}
__device__ __forceinline__ EdgeCrossing unpack_crossing(unsigned word) {
  const unsigned place = word & kPlaceMask;
  const int row = row_of_place(place);
  return {static_cast<int>(place), row, static_cast<int>(place) - row * kPitch, (word >> kPlaceBits & 1) != 0,
          word >> (kPlaceBits + 1)};
}

/// Links of crossings, in words: the crossing that follows in the tile, or kNoCrossing, and from kKeyShift on
/// the key of the segment that leads there. Keys are in the order of raster ids. When its piece has been
/// followed, a crossing has instead kFollowed | piece << kKeyShift | how many crossings of the piece come
/// before it.
inline constexpr unsigned kCrossingMask = 2047, kNoCrossing = kCrossingMask, kKeyShift = 16,
                          kFollowed = 1U << 31;
static_assert(kBatchCrossings < kNoCrossing && kBatchPieces << kKeyShift < kFollowed);
/// The key of a segment: number `sub` of the cell at `place`.
__device__ __forceinline__ unsigned segment_key(int place, unsigned sub) {
  return 2 * static_cast<unsigned>(place) + sub;
}
__device__ __forceinline__ TileSegment segment_of_key(unsigned key) {
  const int row = row_of_place(key / 2);
  return {row, static_cast<int>(key / 2) - row * kPitch, static_cast<int>(key % 2), 0, 0};
}

/// A piece of a batch.
struct alignas(16) BatchPiece {
  unsigned short first, last;        ///< crossings; of an open piece, where it enters and leaves the tile
  unsigned short smallest, largest;  ///< of the keys of its segments
  unsigned short largest_rank;       ///< segments from crossing `first` to the one with the largest key
  unsigned short count;              ///< of segments; 0: the piece is left out
  unsigned short begin, number;      ///< place: segments, and kept pieces, before this one
};

/// Samples in an interval are above `low` and not above `high`.
template <class Value>
struct alignas(2 * sizeof(Value)) IntervalBounds {
  Value low, high;
};

/// A guess at intervals, as if levels were as far from each other as they are on average.
struct IntervalGuess {
  float scale, offset;  ///< sample * scale + offset is the interval / levels

  /// For `levels` levels from `first` on that extend over `span`.
  __device__ __forceinline__ void set(float first, float span, unsigned levels) {
    const auto count = static_cast<float>(levels);
    scale = __fdividef(count - 1, span * count);
    offset = fmaf(-first, scale, __fdividef(0.5F, count));
  }
  __device__ __forceinline__ unsigned of(float sample, unsigned levels) const {
    constexpr float kIntegers = 0x1.8p23F;  // from here on floats are integers, and their bits count them
    const float part = __saturatef(fmaf(sample, scale, offset));
    return __float_as_uint(fmaf(part, static_cast<float>(levels), kIntegers)) - __float_as_uint(kIntegers);
  }
};

/// What the threads of a batch share. Crossings are numbered by samples: those of the edges to the right of
/// and below a sample follow each other, each edge's from the lowest level to the highest.
/// T: samples, P: points.
template <class T, class P>
struct BatchShared {
  using Value = typename Sample<T>::Value;
  using Coordinate = decltype(P::row);
  Value sample[kPlaces];
  double level[kBatchLevels];
  IntervalBounds<Value> interval_bounds[kBatchLevels + 1];  ///< `high` is the threshold of a level
  IntervalGuess guess;
  unsigned position[kBatchLevels], plane[kBatchLevels];  ///< as in NearTiles
  unsigned lane[kBatchLevels];  ///< of each level 1 << its number among the levels that were asked for
  unsigned levels;
  unsigned left_out;        ///< bits of the levels that were asked for and are left to trace_warps
  unsigned unusual;         ///< bits of those in it that are found to be unusual
  unsigned tile_offset[3];  ///< TileLevels::offset of the tile, the one on its right, the one below
  unsigned crossings;
  unsigned open, closed;  ///< pieces
  unsigned sums;          ///< of the pieces that are not left out: number << 16 | segments
  unsigned segment_base, piece_base, open_base;
  unsigned next_tile;  ///< how many tiles of NearTiles::crossed are taken before the block's next one
  union {
    unsigned interval_words[kPlaces / 4];
    unsigned char interval[kPlaces];  ///< how many levels each sample is above, until crossings are linked
    BatchPiece piece[kBatchPieces];   ///< open ones first
  };
  union {
    uint2 offset_words[kPlaces / 4];
    unsigned short offset[kPlaces];          ///< first crossing of each sample, until these are linked
    Coordinate coordinate[kBatchCrossings];  ///< see crossing_coordinate
  };
  unsigned crossing[kBatchCrossings];  ///< first as list_word (batch_crossings.cuh) makes them, when they are
                                       ///< linked pack_crossing
  unsigned link[kBatchCrossings];
  union {
    unsigned short leader[kBatchPieces];     ///< of each piece the crossing from which it is followed
    unsigned short placed[kBatchCrossings];  ///< the crossings at which segments end, piece by piece
  };

  __device__ __forceinline__ unsigned segments() const { return sums & 0xFFFF; }
  __device__ __forceinline__ unsigned kept_pieces() const { return sums >> 16; }
};

/// The types of a batch: T of the samples, P of the points.
template <class T, class P>
struct BatchTypes {
  using Element = T;
  using Value = typename Sample<T>::Value;
  using Point = P;
};

/// A batch as one of its threads sees it. S is a BatchTypes.
template <class S>
struct LevelBatch {
  const PlaneGroup<typename S::Point>& group;
  BatchShared<typename S::Element, typename S::Point>& shared;
  const TileLevels* const tile_levels;
  const unsigned next_tile;  ///< in thread 0, see BatchShared
  const TileBounds bounds;   ///< of plane 0; `tile` is the number among the tiles of all channels
  const int thread;

  __device__ __forceinline__ LevelBatch(const PlaneGroup<typename S::Point>& group,
                                        BatchShared<typename S::Element, typename S::Point>& shared,
                                        const TileLevels* tile_levels, unsigned next_tile)
      : group(group),
        shared(shared),
        tile_levels(tile_levels),
        next_tile(next_tile),
        bounds{.tile = static_cast<int>(tile_levels->tile),
               .plane = 0,
               .channel = tile_levels->channel,
               .row0 = tile_levels->row0,
               .col0 = tile_levels->col0,
               .rows = min(kTileRows, group.cell_rows - tile_levels->row0),
               .columns = min(kTileColumns, group.cell_columns - tile_levels->col0)},
        thread(static_cast<int>(threadIdx.x)) {}
};

template <class Value>
__device__ constexpr Value greatest_finite() {
  return std::is_same_v<Value, double> ? static_cast<Value>(0x1.fffffffffffffp1023)
                                       : static_cast<Value>(0x1.fffffep127);
}

/// Whether samples may be exactly at a level: of integers, if the level is one, but for the rounding of the
/// product. Where this is wrong the level is found unusual later, at the cost of another round.
template <class T>
__device__ __forceinline__ bool is_at_samples(const Map& map, double level) {
  if constexpr (!Sample<T>::kInteger) return false;
  const double stored = level * map.divisor;
  return fabs(stored - rint(stored)) < 0x1p-20;
}

/// What the lanes of the first warp know of a batch before they share it, a level each.
template <class S>
struct LoadedLevels {
  unsigned position, plane, offset;
  double level;
  typename S::Value threshold;
  unsigned lanes;  ///< bits of the lanes whose level is in the batch
  IntervalGuess guess;

  /// Of `count` levels (1 to kBatchLevels) from position `first` on those that have no bit in `skip`, and at
  /// which samples are not; and for the first lanes an element of BatchShared::tile_offset.
  __device__ __forceinline__ void load(const LevelBatch<S>& batch, unsigned first, unsigned count,
                                       unsigned skip) {
    using T = typename S::Element;
    const NearTiles& near = batch.group.work.near;
    const TileBounds& bounds = batch.bounds;
    const unsigned lane = threadIdx.x % 32;
    position = first + min(lane, count - 1);
    plane = near.levels[position].plane;
    const LevelEntry entry = near.levels[position].entry;
    const bool right = lane == 1 && bounds.col0 + kTileColumns < batch.group.cell_columns;
    const bool below = lane == 2 && bounds.row0 + kTileRows < batch.group.cell_rows;
    offset = near.offsets[bounds.tile + (right ? 1 : below ? batch.group.tiles_x : 0)];
    const LevelTest<T> test(batch.group.map, entry);
    level = entry.level;
    threshold = test.threshold;
    lanes = __ballot_sync(
        ~0U, lane < count && (skip >> lane & 1) == 0 && !is_at_samples<T>(batch.group.map, level));
    const auto lowest = __shfl_sync(~0U, test.centre, __ffs(static_cast<int>(lanes | 1U << 31)) - 1),
               highest = __shfl_sync(~0U, test.centre, 31 - __clz(static_cast<int>(lanes | 1)));
    guess.set(static_cast<float>(lowest), static_cast<float>(highest - lowest), levels());
  }
  __device__ __forceinline__ unsigned levels() const { return static_cast<unsigned>(__popc(lanes)); }
};

/// Shares the levels of a batch, of `count` that were asked for. Called by the first warp.
template <class S>
__device__ __forceinline__ void share_levels(const LevelBatch<S>& batch, const LoadedLevels<S>& own,
                                             unsigned count) {
  using Value = typename S::Value;
  auto& s = batch.shared;
  const unsigned lane = threadIdx.x % 32, levels = own.levels();
  const auto to = static_cast<unsigned>(__popc(own.lanes & ((1U << lane) - 1)));
  // Behind the last level all finite samples are in its interval, and others in none.
  constexpr auto kInfinity = static_cast<Value>(INFINITY);
  if (lane >= levels) s.interval_bounds[lane] = {kInfinity, greatest_finite<Value>()};
  if (lane == 0) s.interval_bounds[0].low = -kInfinity;
  __syncwarp();
  if ((own.lanes >> lane & 1) != 0) {
    s.interval_bounds[to].high = s.interval_bounds[to + 1].low = own.threshold;
    s.level[to] = own.level;
    s.position[to] = own.position;
    s.plane[to] = own.plane;
    s.lane[to] = 1U << lane;
  }
  if (lane < 3) s.tile_offset[lane] = own.offset;
  if (lane != 0) return;
  s.levels = levels;
  s.guess = own.guess;
  s.left_out = ~own.lanes & ((1U << count) - 1);
  s.crossings = s.open = s.closed = s.sums = s.unusual = 0;
  s.next_tile = batch.next_tile;
}

}  // namespace contorno::contour_engine
