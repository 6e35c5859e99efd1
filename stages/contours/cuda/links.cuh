// The links of a tile's segments, on which list ranking works, in two widths: most tiles of large maps have
// few segments, and with narrow links more tiles fit into a multiprocessor's shared memory at the same time.
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

/// What pointer jumping knows of a segment and those that follow it, up to but without `next`: their highest
/// index in the tile's list, and the steps to it as `distance`. Where the last segment of an open piece,
/// number e, is among them, `highest` is e + Links::kOpenEnd, above every index.
struct SegmentLink {
  unsigned next, highest, distance;
};

/// Links for less than 2^kBits segments: one word each, from the top highest, distance, next.
template <int kBits, int kMost>
struct PackedLinks {
  static_assert(3 * kBits + 1 <= 32 && kMost <= 1 << kBits && kMost % 32 == 0);
  static constexpr unsigned kCapacity = kMost;
  static constexpr unsigned kOpenEnd = 1U << kBits;
  using Word = unsigned;
  Word word[kCapacity];
  unsigned smallest[kCapacity];
  __device__ __forceinline__ unsigned& smallest_of(unsigned i) { return smallest[i]; }
  /// The highest index and the distance to it of segment i, when the ranking is done.
  __device__ __forceinline__ SegmentLink ranked(unsigned i) const { return ranked_of(word[i]); }
  static __device__ __forceinline__ SegmentLink ranked_of(Word w) {
    return {0, w >> (2 * kBits), w >> kBits & (kOpenEnd - 1)};
  }
  static __device__ __forceinline__ Word pack(const SegmentLink& l) {
    return l.next | l.distance << kBits | l.highest << (2 * kBits);
  }
  static __device__ __forceinline__ unsigned next(Word w) { return w & (kOpenEnd - 1); }
  static __device__ __forceinline__ bool has_end(Word w) { return w >> (3 * kBits) != 0; }
  static __device__ __forceinline__ bool same_highest(Word a, Word b) { return (a ^ b) >> (2 * kBits) == 0; }
  /// The link over `own`, which covers `step` segments, and `other`, which follows it; their highest indices
  /// differ.
  static __device__ __forceinline__ Word joined(Word own, Word other, unsigned step) {
    return other > own ? other + (step << kBits) : (own & ~(kOpenEnd - 1)) | next(other);
  }
};

/// Links for as many segments as a tile can have. The smallest indices take the place of `next`, which is not
/// needed after ranking.
struct WideLinks {
  static constexpr unsigned kCapacity = kTileSegments;
  static constexpr unsigned kOpenEnd = kTileSegments;
  using Word = uint2;
  Word word[kCapacity];
  __device__ __forceinline__ unsigned& smallest_of(unsigned i) { return word[i].x; }
  __device__ __forceinline__ SegmentLink ranked(unsigned i) const {
    const unsigned value = word[i].y;
    return {0, value >> 16, value & 0xFFFF};
  }
  static __device__ __forceinline__ Word pack(const SegmentLink& l) {
    return {l.next, l.distance | l.highest << 16};
  }
  static __device__ __forceinline__ unsigned next(Word w) { return w.x; }
  static __device__ __forceinline__ bool has_end(Word w) { return w.y >= kOpenEnd << 16; }
  static __device__ __forceinline__ bool same_highest(Word a, Word b) { return (a.y ^ b.y) >> 16 == 0; }
  static __device__ __forceinline__ Word joined(Word own, Word other, unsigned step) {
    return {other.x, other.y > own.y ? other.y + step : own.y};
  }
};

}  // namespace contorno::contour_engine
