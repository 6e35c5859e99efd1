// What a tile keeps in shared memory while its segments are linked and ranked. Links come in two widths:
// tiles of large maps mostly have few segments, and then more of them run at the same time.
#pragma once

#include "stages/contours/cuda/bits.cuh"

namespace contorno::contour_engine {

/// A segment as it stands in the list. from == to marks a segment of length zero, which takes no part.
struct TileSegment {
  int row, col, sub, from, to;
};
__device__ __forceinline__ unsigned short pack_segment(int row, int col, int sub, int sides) {
  return static_cast<unsigned short>(col | row << 6 | sub << 11 | sides << 12);
}
__device__ __forceinline__ TileSegment unpack_segment(unsigned short word) {
  return {(word >> 6) & 31, word & 63, (word >> 11) & 1, (word >> 12) & 3, word >> 14};
}

/// What pointer jumping knows of the segments from one up to `target` (not with it): the largest index and
/// the steps to it. The open end of a chain outranks every index: key = end + Links::kEndKey.
struct Link {
  unsigned target, key, distance;
};

/// Less than 2^kBits segments: a link is one word, from the top: key, distance, target. The second array
/// holds every other round's links, then the smallest indices.
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
  /// Key and distance, when the ranking is done.
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
  /// `own`, `step` segments, and what follows; their keys differ.
  static __device__ __forceinline__ Word joined(Word own, Word other, unsigned step) {
    return other > own ? other + (step << kBits) : (own & ~(kEndKey - 1)) | target(other);
  }
};

/// As many as a tile can have. The targets are not needed any more when the smallest indices are collected.
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

/// How a segment is joined to others, by bits: whether another one of the tile leads to it; and (only where
/// crossings fall on samples) what it ends at, if that is not its edge: nothing, or a sample. Of the sample:
/// whether it is the farther one of the edge, and the quadrant (times kQuadrant) where the follower lies.
inline constexpr unsigned kHasPrevious = 1, kAtNothing = 2, kAtSample = 4, kFarSample = 8, kQuadrant = 16;

template <class Links>
struct TileShared {
  static constexpr unsigned kCapacity = Links::kCapacity;
  static constexpr int kWords = static_cast<int>(kCapacity) / 32;
  TileBits bits;
  Links links;
  unsigned largest[kCapacity];  ///< at representatives: open: (index << 13 | steps to the end), closed: steps
  unsigned short segment[kCapacity];       ///< see pack_segment
  unsigned short leader[kCapacity];        ///< open pieces from the front, closed ones from the back
  unsigned char joints[kCapacity];         ///< see kHasPrevious
  unsigned short before[kTileGroups + 1];  ///< segments in the groups of cells before
  unsigned first[kWords];                  ///< bit: this segment is the first (in raster order) of a piece
  unsigned first_before[kWords];
  // Of a block: what is read together while others write the rest is 16 bytes of its own, as loads are wide.
  alignas(Links::kTwoArrays ? 4 : 16) unsigned open, closed, segment_base, unused;
  unsigned piece_base, active_base, pieces;
};

inline constexpr unsigned short kDropped = 0x8000;  ///< leader of a finished contour below min_points

}  // namespace contorno::contour_engine
