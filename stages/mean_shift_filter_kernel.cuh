// The image mean shift on the device. pack_pixels turns pixels into words: a 1, which counts, and three
// components above it. climb_pixels: one thread a pixel. It reads four words at a time, since the lanes of a
// warp soon look at different rows; a distance is two dot products of four bytes, |a - c|^2 = a.a - 2 a.c +
// c.c; the sums of two bytes at a time are halves of a word.
#pragma once

#include "cuda/launch.cuh"
#include "stages/mean_shift_segment.h"

namespace contorno::mean_shift_cuda {

inline constexpr unsigned kPixelThreads = 128;
inline constexpr int kTileX = 32, kTileY = 4;
inline constexpr int kGroup = 4;  // words that are read at a time

struct ImageJob {
  MeanShiftWindow window;
  ShiftColours colours;
  int channels = 3;
  const unsigned char* in = nullptr;
  std::ptrdiff_t in_pitch = 0;
  unsigned char* out = nullptr;  ///< the filtered image, or null
  std::ptrdiff_t out_pitch = 0;
  int stride = 0;              ///< words a row, a multiple of kGroup
  unsigned* places = nullptr;  ///< a word a pixel
  unsigned* values = nullptr;  ///< the image's colours; the same as `places` in RGB
  PackedEnd* ends = nullptr;   ///< for segmentation, or null
};

__device__ __forceinline__ unsigned dot4(unsigned a, unsigned b) {
#if defined(CONTORNO_EMULATE)
  unsigned sum = 0;
  for (unsigned k = 0; k < 32; k += 8) sum += (a >> k & 255U) * (b >> k & 255U);
  return sum;
#else
  return __dp4a(a, b, 0U);
#endif
}

/// Bytes 1 and 3 as halves of a word.
__device__ __forceinline__ unsigned odd_bytes(unsigned v) {
#if defined(CONTORNO_EMULATE)
  return v >> 8U & 0x00ff00ffU;
#else
  return __byte_perm(v, 0U, 0x4341U);
#endif
}

/// Component k of a word.
__device__ __forceinline__ int component(unsigned word, int k) {
  return static_cast<int>(word >> (8 * k + 8) & 255U);
}

/// kSame: the components are the image's colours.
template <bool kSame>
__global__ void __launch_bounds__(kPixelThreads) pack_pixels(const ImageJob job) {
  const int at = static_cast<int>(blockIdx.x * kPixelThreads + threadIdx.x);
  if (at >= job.stride * job.window.height) return;
  const int x = at % job.stride;
  if (x >= job.window.width) {
    job.values[at] = job.places[at] = 0;
    return;
  }
  const unsigned char* from = job.in + at / job.stride * job.in_pitch + x * job.channels;
  const bool grey = job.channels == 1;
  const std::uint8_t red = from[0], green = grey ? std::uint8_t{0} : from[1],
                     blue = grey ? std::uint8_t{0} : from[2];
  job.values[at] = 1U | static_cast<unsigned>(red) << 8U | static_cast<unsigned>(green) << 16U |
                   static_cast<unsigned>(blue) << 24U;
  if constexpr (!kSame)
    job.places[at] = 1U | (grey ? job.colours.place(red, red, red) : job.colours.place(red, green, blue))
                              << 8U;
}

/// Sums over a part of a row.
struct RowSums {
  unsigned even = 0;    ///< count, component 1
  unsigned odd = 0;     ///< components 0 and 2
  unsigned behind = 0;  ///< low half: the count after every pixel, added up
};

/// Adds a group that begins at x. kEdge: pixels outside [left, right] do not belong.
template <bool kSame, bool kEdge>
__device__ __forceinline__ void add_group(const unsigned* places, const unsigned* values, int x, int left,
                                          int right, unsigned centre, int most, RowSums& sums) {
  const uint4 group = __ldg(reinterpret_cast<const uint4*>(places + x));
  const unsigned pixels[kGroup] = {group.x, group.y, group.z, group.w};
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const int away =
        static_cast<int>(dot4(pixels[i], pixels[i])) - 2 * static_cast<int>(dot4(pixels[i], centre));
    bool inside = away <= most;
    if constexpr (kEdge) inside = inside && x + i >= left && x + i <= right;
    if (inside) {
      const unsigned value = kSame ? pixels[i] : __ldg(values + x + i);
      sums.even += value & 0x00ff00ffU;
      sums.odd += odd_bytes(value);
    }
    sums.behind += sums.even;
  }
}

/// Sums of `values` over the window around `state`.
template <bool kSame>
__device__ __forceinline__ ShiftSums window_sums(const ImageJob& job, const ShiftState& state) {
  const MeanShiftWindow& window = job.window;
  const int left = max(0, state.x - window.spatial), right = min(window.width - 1, state.x + window.spatial);
  const int top = max(0, state.y - window.spatial), bottom = min(window.height - 1, state.y + window.spatial);
  const unsigned centre = 1U | static_cast<unsigned>(state.c[0]) << 8U |
                          static_cast<unsigned>(state.c[1]) << 16U | static_cast<unsigned>(state.c[2]) << 24U;
  const int most = window.limit - static_cast<int>(dot4(centre, centre));
  const int first = left / kGroup * kGroup, last = right / kGroup * kGroup;
  ShiftSums sums;
  for (int y = top; y <= bottom; ++y) {
    const unsigned* places = job.places + static_cast<std::ptrdiff_t>(y) * job.stride;
    const unsigned* values = job.values + static_cast<std::ptrdiff_t>(y) * job.stride;
    RowSums row;
    add_group<kSame, true>(places, values, first, left, right, centre, most, row);
#pragma unroll 2
    for (int x = first + kGroup; x < last; x += kGroup)
      add_group<kSame, false>(places, values, x, left, right, centre, most, row);
    if (last > first) add_group<kSame, true>(places, values, last, left, right, centre, most, row);
    // A member at x was counted after itself and after every pixel behind it, to the end of the last group.
    const int members = static_cast<int>(row.even & 0xffffU);
    sums.count += members;
    sums.x += (last + kGroup) * members - static_cast<int>(row.behind & 0xffffU);
    sums.y += y * members;
    sums.c[0] += static_cast<int>(row.odd & 0xffffU);
    sums.c[1] += static_cast<int>(row.even >> 16U);
    sums.c[2] += static_cast<int>(row.odd >> 16U);
  }
  return sums;
}

template <bool kSame>
__global__ void __launch_bounds__(kPixelThreads) climb_pixels(const ImageJob job) {
  const MeanShiftWindow& window = job.window;
  const int tiles_x = (window.width + kTileX - 1) / kTileX;
  const int x = static_cast<int>(blockIdx.x) % tiles_x * kTileX + static_cast<int>(threadIdx.x) % kTileX;
  const int y = static_cast<int>(blockIdx.x) / tiles_x * kTileY + static_cast<int>(threadIdx.x) / kTileX;
  if (x >= window.width || y >= window.height) return;
  const unsigned start = job.places[static_cast<std::ptrdiff_t>(y) * job.stride + x];
  ShiftState state{x, y, {component(start, 0), component(start, 1), component(start, 2)}};
  ShiftState last = state;  // of the last window that held a pixel
  for (int step = 0; step < window.max_iterations; ++step) {
    const ShiftSums sums = window_sums<true>(job, state);
    if (sums.count == 0) break;
    last = state;
    if (shift_to_mean(window, sums, state)) break;
  }
  if (job.ends != nullptr) job.ends[static_cast<std::ptrdiff_t>(y) * window.width + x] = PackedEnd::of(state);
  if (job.out == nullptr) return;
  if constexpr (!kSame) {
    const ShiftSums sums = window_sums<false>(job, last);
    const double reciprocal = 1.0 / static_cast<double>(sums.count);
    for (int k = 0; k < 3; ++k) state.c[k] = rounded_mean(sums.c[k], reciprocal);
  }
  unsigned char* to = job.out + y * job.out_pitch + x * job.channels;
  to[0] = static_cast<unsigned char>(state.c[0]);
  if (job.channels == 1) return;
  to[1] = static_cast<unsigned char>(state.c[1]), to[2] = static_cast<unsigned char>(state.c[2]);
  if (job.channels == 4) to[3] = job.in[y * job.in_pitch + x * 4 + 3];
}

}  // namespace contorno::mean_shift_cuda
