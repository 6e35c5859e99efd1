// What a tile keeps in shared memory while its segments are linked and ranked. Links come in two widths:
// tiles of large maps mostly have few segments, and small blocks run in greater number.
#pragma once

#include "stages/contour_engine_bits.cuh"

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
/// the steps to it. The open end of a chain outranks every index: key = end + capacity.
struct Link {
  unsigned target, key, distance;
};

/// Up to 2^kBits segments: a link is one word.
template <int kBits>
struct PackedLinks {
  static_assert(3 * kBits + 1 <= 32);
  static constexpr unsigned kCapacity = 1U << kBits;
  using Word = unsigned;
  Word word[kCapacity];
  unsigned smallest[kCapacity];
  __device__ __forceinline__ unsigned& smallest_of(unsigned i) { return smallest[i]; }
  /// Key and distance, when the ranking is done.
  __device__ __forceinline__ Link settled(unsigned i) const { return unpack(word[i]); }
  static __device__ __forceinline__ Word pack(const Link& l) {
    return l.distance | l.target << kBits | l.key << (2 * kBits);
  }
  static __device__ __forceinline__ Link unpack(Word w) {
    return {w >> kBits & (kCapacity - 1), w >> (2 * kBits), w & (kCapacity - 1)};
  }
};

/// As many as a tile can have. The targets are not needed any more when the smallest indices are collected.
struct WideLinks {
  static constexpr unsigned kCapacity = kTileSegments;
  using Word = uint2;
  Word word[kCapacity];
  __device__ __forceinline__ unsigned& smallest_of(unsigned i) { return word[i].x; }
  __device__ __forceinline__ Link settled(unsigned i) const {
    const unsigned value = word[i].y;
    return {0, value >> 16, value & 0xFFFF};
  }
  static __device__ __forceinline__ Word pack(const Link& l) { return {l.target, l.distance | l.key << 16}; }
  static __device__ __forceinline__ Link unpack(Word w) { return {w.x, w.y >> 16, w.y & 0xFFFF}; }
};

template <class Links>
struct TileShared {
  static constexpr unsigned kCapacity = Links::kCapacity;
  static constexpr int kWords = static_cast<int>(kCapacity) / 32;
  TileBits bits;
  Links links;
  unsigned largest[kCapacity];  ///< at representatives: open: (index << 13 | steps to the end), closed: steps
  unsigned short segment[kCapacity];  ///< see pack_segment
  unsigned short leader[kCapacity];   ///< open pieces from the front, closed ones from the back
  unsigned before[kTileRows + 1];     ///< segments in the rows above
  unsigned has_previous[kWords];
  unsigned first[kWords];  ///< bit: this segment is the first (in raster order) of a piece
  unsigned first_before[kWords];
  unsigned open, closed, segment_base, piece_base, active_base, pieces;
};

inline constexpr unsigned short kDropped = 0x8000;  ///< leader of a finished contour below min_points

}  // namespace contorno::contour_engine
