// How samples are packed into words for morphology on the device, so that no sample has to move from lane to
// lane. The image is cut into as many strips of rows as a word has lanes, and a word holds the same sample of
// every strip. A neighbouring sample, in x or y, is then in a neighbouring word, in the same lane. Internal.
#pragma once

#include "cuda/launch.cuh"
#include "stages/morphology/samples.h"

namespace contorno::morphology_cuda {

template <class W>
inline constexpr int kLanes = static_cast<int>(4 / sizeof(W));

template <class W>
__device__ unsigned broadcast(W value) {
  if constexpr (sizeof(W) == 1) return static_cast<unsigned>(static_cast<std::uint8_t>(value)) * 0x01010101U;
  if constexpr (sizeof(W) == 2) return static_cast<unsigned>(static_cast<std::uint16_t>(value)) * 0x00010001U;
  return static_cast<unsigned>(value);
}
template <class W>
__device__ W lane_of(unsigned word, int lane) {
  return static_cast<W>(word >> (8 * static_cast<int>(sizeof(W)) * lane));
}
template <class W>
__device__ unsigned in_lane(W value, int lane) {
  if constexpr (sizeof(W) == 4) return static_cast<unsigned>(value);
  return static_cast<unsigned>(static_cast<std::make_unsigned_t<W>>(value))
         << (8 * static_cast<int>(sizeof(W)) * lane);
}

/// The running extreme of words, lane by lane. Devices compare two lanes of 16 bits at once, but not four of
/// 8. So words of bytes are kept as two words, with the bytes as upper halves of 16-bit lanes; what the lower
/// halves hold decides only between equal bytes.
template <class W, Extreme kExtreme>
struct Running {
  unsigned odd, even;

  Running() = default;
  __device__ explicit Running(unsigned word) : odd(word), even(sizeof(W) == 1 ? word << 8 : 0) {}
  __device__ void take(unsigned word) {
    if constexpr (sizeof(W) == 1) {
      odd = pair(odd, word);
      even = pair(even, word << 8);
    } else if constexpr (sizeof(W) == 2) {
      odd = pair(odd, word);
    } else {
      const int a = static_cast<int>(odd), b = static_cast<int>(word);
      odd = static_cast<unsigned>(kExtreme == Extreme::Minimum ? min(a, b) : max(a, b));
    }
  }
  __device__ void take(const Running& other) {
    if constexpr (sizeof(W) == 4) {
      take(other.odd);
    } else {
      odd = pair(odd, other.odd);
      if constexpr (sizeof(W) == 1) even = pair(even, other.even);
    }
  }
  /// Takes two at once: a single instruction on devices of compute capability 9 and up.
  __device__ void take(const Running& a, const Running& b) {
    if constexpr (sizeof(W) == 4) {
      take(a.odd), take(b.odd);
    } else {
      odd = pair(odd, a.odd, b.odd);
      if constexpr (sizeof(W) == 1) even = pair(even, a.even, b.even);
    }
  }
  __device__ unsigned word() const {
    if constexpr (sizeof(W) == 1) return __byte_perm(even, odd, 0x7351);
    return odd;
  }

 private:
  static __device__ unsigned pair(unsigned a, unsigned b) {
    if constexpr (std::is_signed_v<W>)
      return kExtreme == Extreme::Minimum ? __vmins2(a, b) : __vmaxs2(a, b);
    else
      return kExtreme == Extreme::Minimum ? __vminu2(a, b) : __vmaxu2(a, b);
  }
  static __device__ unsigned pair(unsigned a, unsigned b, unsigned c) {
    if constexpr (std::is_signed_v<W>)
      return kExtreme == Extreme::Minimum ? __vimin3_s16x2(a, b, c) : __vimax3_s16x2(a, b, c);
    else
      return kExtreme == Extreme::Minimum ? __vimin3_u16x2(a, b, c) : __vimax3_u16x2(a, b, c);
  }
};

/// How an image lies in words: lane `lane` of the word at sample x of row `row` is sample x of image row row
/// + lane * strip.
struct Strips {
  int width = 0, height = 0, pixel = 1;  ///< of the image, in pixels; samples a pixel
  int strip = 0;                         ///< rows of words
  int planes = 1;

  CONTORNO_HD int samples() const { return width * pixel; }
  CONTORNO_HD std::size_t words() const {
    return static_cast<std::size_t>(samples()) * static_cast<std::size_t>(strip);
  }
};

/// Whether every lane of row `row` lies in the image.
template <class W>
__device__ bool all_inside(const Strips& strips, int row) {
  return row >= 0 && row + (kLanes<W> - 1) * strips.strip < strips.height;
}

/// `word` of row `row`, with `outside` in the lanes whose row is not in the image.
template <class W>
__device__ unsigned clipped(const Strips& strips, int row, unsigned word, unsigned outside) {
  if (all_inside<W>(strips, row)) return word;
  unsigned result = 0;
  for (int lane = 0; lane < kLanes<W>; ++lane) {
    const int y = row + lane * strips.strip;
    result |= in_lane<W>(lane_of<W>(y >= 0 && y < strips.height ? word : outside, lane), lane);
  }
  return result;
}

/// The word at sample `x` of row `row`, which may reach into a neighbouring strip or outside. Lanes whose row
/// is below the image must hold `outside` in memory.
template <class W>
__device__ unsigned word_at(const unsigned* words, const Strips& strips, int x, int row, unsigned outside) {
  if (x < 0 || x >= strips.samples()) return outside;
  int shift = 0;
  while (row >= strips.strip && shift < kLanes<W>) row -= strips.strip, ++shift;
  while (row < 0 && shift > -kLanes<W>) row += strips.strip, --shift;
  if (row < 0 || row >= strips.strip || shift >= kLanes<W> || shift <= -kLanes<W>) return outside;
  const unsigned word = words[static_cast<std::ptrdiff_t>(row) * strips.samples() + x];
  constexpr int kBits = 8 * static_cast<int>(sizeof(W));
  if (shift == 0) return word;
  if (shift > 0) return word >> (kBits * shift) | outside << (32 - kBits * shift);
  return word << (kBits * -shift) | outside >> (32 - kBits * -shift);
}

/// Rule::settled for every lane.
template <class Rule>
__device__ unsigned settled_word(unsigned word) {
  using W = typename Rule::W;
  unsigned result = 0;
  for (int lane = 0; lane < kLanes<W>; ++lane)
    result |= in_lane<W>(Rule::settled(lane_of<W>(word, lane)), lane);
  return result;
}

/// Transposes lanes and words: afterwards word i has lane i of every word before.
template <class W>
__device__ void transpose(unsigned (&words)[kLanes<W>]) {
  if constexpr (sizeof(W) == 1) {
    const unsigned ab0 = __byte_perm(words[0], words[1], 0x5140),
                   ab2 = __byte_perm(words[0], words[1], 0x7362);
    const unsigned cd0 = __byte_perm(words[2], words[3], 0x5140),
                   cd2 = __byte_perm(words[2], words[3], 0x7362);
    words[0] = __byte_perm(ab0, cd0, 0x5410), words[1] = __byte_perm(ab0, cd0, 0x7632);
    words[2] = __byte_perm(ab2, cd2, 0x5410), words[3] = __byte_perm(ab2, cd2, 0x7632);
  } else if constexpr (sizeof(W) == 2) {
    const unsigned first = __byte_perm(words[0], words[1], 0x5410);
    words[1] = __byte_perm(words[0], words[1], 0x7632), words[0] = first;
  }
}

}  // namespace contorno::morphology_cuda
