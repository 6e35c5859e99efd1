// What the threads of a tile keep in shared memory while they link and rank its segments. Links come in two
// widths: most tiles of large maps have few segments, and with narrow links more tiles are worked on at the
// same time.
#pragma once

#include "stages/contours/cuda/bits.cuh"

namespace contorno::contour_engine {

/// A segment in the tile's list: its cell, its number in the cell, and its sides. from == to marks a segment
/// of length zero, which is left out.
struct TileSegment {
  int row, col, sub, from, to;
};
__device__ __forceinline__ unsigned short pack_segment(int row, int col, int sub, int sides) {
  return static_cast<unsigned short>(col | row << 6 | sub << 11 | sides << 12);
}
__device__ __forceinline__ TileSegment unpack_segment(unsigned short word) {
  return {(word >> 6) & 31, word & 63, (word >> 11) & 1, (word >> 12) & 3, word >> 14};
}

/// What pointer jumping knows of a segment and those that follow it, up to but without `target`: their
/// largest index as `key`, and the steps to it as `distance`. Where the last segment of an open piece, number
/// e, is among them, key is e + Links::kEndKey, above every index.
struct Link {
  unsigned target, key, distance;
};

/// Links for less than 2^kBits segments: one word each, from the top key, distance, target. `smallest` first
/// is the second array of links, which rounds write in turns; after ranking it holds the smallest indices.
template <int kBits, int kMost>
struct PackedLinks {
  static_assert(3 * kBits + 1 <= 32 && kMost <= 1 << kBits && kMost % 32 == 0);
  static constexpr unsigned kCapacity = kMost;
  static constexpr unsigned kEndKey = 1U << kBits;
  using Word = unsigned;
  static constexpr bool kTwoArrays = true;
  Word word[kCapacity];
  unsigned smallest[kCapacity];
  __device__ __forceinline__ unsigned& smallest_of(unsigned i) { return smallest[i]; }
  __device__ __forceinline__ Word* array(int round) { return round % 2 == 0 ? word : smallest; }
  /// Key and distance of segment i, when the ranking is done.
  __device__ __forceinline__ Link settled(unsigned i) const {
    const Word w = word[i];
    return {0, w >> (2 * kBits), w >> kBits & (kEndKey - 1)};
  }
  static __device__ __forceinline__ Word pack(const Link& l) {
    return l.target | l.distance << kBits | l.key << (2 * kBits);
  }
  static __device__ __forceinline__ unsigned target(Word w) { return w & (kEndKey - 1); }
  static __device__ __forceinline__ bool has_end(Word w) { return w >> (3 * kBits) != 0; }
  static __device__ __forceinline__ bool same_key(Word a, Word b) { return (a ^ b) >> (2 * kBits) == 0; }
  /// The link over `own`, which covers `step` segments, and `other`, which follows it; their keys differ.
  static __device__ __forceinline__ Word joined(Word own, Word other, unsigned step) {
    return other > own ? other + (step << kBits) : (own & ~(kEndKey - 1)) | target(other);
  }
};

/// Links for as many segments as a tile can have. The smallest indices take the place of the targets, which
/// are not needed after ranking.
struct WideLinks {
  static constexpr unsigned kCapacity = kTileSegments;
  static constexpr unsigned kEndKey = kTileSegments;
  using Word = uint2;
  static constexpr bool kTwoArrays = false;
  Word word[kCapacity];
  __device__ __forceinline__ unsigned& smallest_of(unsigned i) { return word[i].x; }
  __device__ __forceinline__ Link settled(unsigned i) const {
    const unsigned value = word[i].y;
    return {0, value >> 16, value & 0xFFFF};
  }
  static __device__ __forceinline__ Word pack(const Link& l) { return {l.target, l.distance | l.key << 16}; }
  static __device__ __forceinline__ unsigned target(Word w) { return w.x; }
  static __device__ __forceinline__ bool has_end(Word w) { return w.y >= kEndKey << 16; }
  static __device__ __forceinline__ bool same_key(Word a, Word b) { return (a.y ^ b.y) >> 16 == 0; }
  static __device__ __forceinline__ Word joined(Word own, Word other, unsigned step) {
    return {other.x, other.y > own.y ? other.y + step : own.y};
  }
};

/// Bits of TileShared::joints. kHasPrevious: another segment of the tile leads to this one. The others are
/// set only in unusual tiles. kAtNothing: no segment follows. kAtSample: the segment ends on a sample;
/// kFarSample: that is the lower or right sample of its edge; the follower lies in the quadrant joint /
/// kQuadrant.
inline constexpr unsigned kHasPrevious = 1, kAtNothing = 2, kAtSample = 4, kFarSample = 8, kQuadrant = 16;

template <class Links>
struct TileShared {
  static constexpr unsigned kCapacity = Links::kCapacity;
  static constexpr int kWords = static_cast<int>(kCapacity) / 32;
  TileBits bits;
  Links links;
  unsigned largest[kCapacity];        ///< of a representative's piece; open: index << 13 | steps to the end,
                                      ///< closed: segments - 1
  unsigned short segment[kCapacity];  ///< see pack_segment
  unsigned short leader[kCapacity];   ///< open pieces from the front, closed ones from the back
  unsigned char joints[kCapacity];    ///< see kHasPrevious
  unsigned short before[kTileGroups + 1];  ///< segments in the groups of cells before
  unsigned first[kWords];                  ///< bit: this segment is the first (in raster order) of a piece
  unsigned first_before[kWords];
  // In blocks the first four share 16 bytes: they are loaded together, and what other threads write meanwhile
  // must not lie in the same load.
  alignas(Links::kTwoArrays ? 4 : 16) unsigned open, closed, segment_base, unused;
  unsigned piece_base, active_base, pieces;
};

inline constexpr unsigned short kDropped = 0x8000;  ///< bit of a leader: a closed contour with too few points

}  // namespace contorno::contour_engine
