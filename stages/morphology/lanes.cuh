// How the kernels of morphology pack samples into 32-bit words, a sample a lane, and take the maxima of words
// lane by lane. Internal.
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

/// Kernels take maxima only. A minimum is the complement of the maximum of complemented samples, because ~
/// reverses the order of every W (float32 samples are OrderedFloat keys, which are integers, too). So words
/// are xored with this where they enter the shared memory or registers of a kernel, and again where they
/// leave it.
constexpr unsigned complement_for(Extreme extreme) {
  return extreme == Extreme::Minimum ? ~0U : 0U;
}

/// The running maximum of words, lane by lane. Devices compare two lanes of 16 bits at once, but not four of
/// 8. So words of bytes are kept as two words, with the bytes as upper halves of 16-bit lanes; what the lower
/// halves hold decides only between equal bytes.
template <class W>
struct RunningMaximum {
  unsigned odd, even;

  RunningMaximum() = default;
  __device__ explicit RunningMaximum(unsigned word) : odd(word), even(sizeof(W) == 1 ? word << 8 : 0) {}
  __device__ void take(unsigned word) {
    odd = maximum(odd, word);
    if constexpr (sizeof(W) == 1) even = maximum(even, word << 8);
  }
  __device__ void take(const RunningMaximum& other) {
    odd = maximum(odd, other.odd);
    if constexpr (sizeof(W) == 1) even = maximum(even, other.even);
  }
  /// Takes two at once: a single instruction on devices of compute capability 9 and up.
  __device__ void take(const RunningMaximum& a, const RunningMaximum& b) {
    odd = maximum(odd, a.odd, b.odd);
    if constexpr (sizeof(W) == 1) even = maximum(even, a.even, b.even);
  }
  __device__ unsigned word() const {
    if constexpr (sizeof(W) == 1) return __byte_perm(even, odd, 0x7351);
    return odd;
  }

 private:
  static __device__ unsigned maximum(unsigned a, unsigned b) {
    if constexpr (sizeof(W) == 4)
      return static_cast<unsigned>(max(static_cast<int>(a), static_cast<int>(b)));
    else
      return std::is_signed_v<W> ? __vmaxs2(a, b) : __vmaxu2(a, b);
  }
  static __device__ unsigned maximum(unsigned a, unsigned b, unsigned c) {
    if constexpr (sizeof(W) == 4)
      return maximum(maximum(a, b), c);
    else
      return std::is_signed_v<W> ? __vimax3_s16x2(a, b, c) : __vimax3_u16x2(a, b, c);
  }
};

/// Rule::settled for every lane of a word that is not complemented.
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

/// Transposes words and writes them to shared memory, where `to` is a multiple of kLanes<W> words.
template <class W>
__device__ void put_transposed(unsigned* to, unsigned (&words)[kLanes<W>]) {
  transpose<W>(words);
  if constexpr (sizeof(W) == 1)
    *reinterpret_cast<uint4*>(to) = uint4{words[0], words[1], words[2], words[3]};
  else if constexpr (sizeof(W) == 2)
    *reinterpret_cast<uint2*>(to) = uint2{words[0], words[1]};
  else
    *to = words[0];
}
/// The reverse.
template <class W>
__device__ void get_transposed(const unsigned* from, unsigned (&words)[kLanes<W>]) {
  if constexpr (sizeof(W) == 1) {
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
  } else {
#pragma unroll
    for (int k = 0; k < kLanes<W>; ++k) words[k] = from[k];
  }
  transpose<W>(words);
}

}  // namespace contorno::morphology_cuda
