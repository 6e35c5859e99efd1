// The image mean shift on the device. pack_pixels turns pixels into words: three components and a 1 above
// them, which counts. climb_pixels: one thread a pixel; a distance is two dot products of four bytes, since
// |a - c|^2 = a.a - 2 a.c + c.c, and the sums of two components at a time are halves of a word.
#pragma once

#include "cuda/launch.cuh"
#include "stages/mean_shift_segment.h"

namespace contorno::mean_shift_cuda {

inline constexpr unsigned kPixelThreads = 256;
inline constexpr int kTileX = 32, kTileY = 8;

struct ImageJob {
  MeanShiftWindow window;
  ShiftColours colours;
  int channels = 3;
  const unsigned char* in = nullptr;
  std::ptrdiff_t in_pitch = 0;
  unsigned char* out = nullptr;  ///< the filtered image, or null
  std::ptrdiff_t out_pitch = 0;
  unsigned* places = nullptr;  ///< a word a pixel, rows without gaps
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

/// kSame: the components are the image's colours.
template <bool kSame>
static __global__ void __launch_bounds__(kPixelThreads) pack_pixels(const ImageJob job) {
  const int pixel = static_cast<int>(blockIdx.x * kPixelThreads + threadIdx.x);
  if (pixel >= job.window.width * job.window.height) return;
  const unsigned char* from =
      job.in + pixel / job.window.width * job.in_pitch + pixel % job.window.width * job.channels;
  const bool grey = job.channels == 1;
  const std::uint8_t red = from[0], green = grey ? std::uint8_t{0} : from[1],
                     blue = grey ? std::uint8_t{0} : from[2];
  constexpr unsigned kOne = 1U << 24U;
  job.values[pixel] = static_cast<unsigned>(red) | static_cast<unsigned>(green) << 8U |
                      static_cast<unsigned>(blue) << 16U | kOne;
  if constexpr (kSame) return;
  job.places[pixel] = (grey ? job.colours.place(red, red, red) : job.colours.place(red, green, blue)) | kOne;
}

/// Sums of `values` over the window around `state`.
template <bool kSame>
__device__ __forceinline__ ShiftSums window_sums(const ImageJob& job, const ShiftState& state) {
  const MeanShiftWindow& window = job.window;
  const int left = max(0, state.x - window.spatial), right = min(window.width - 1, state.x + window.spatial);
  const int top = max(0, state.y - window.spatial), bottom = min(window.height - 1, state.y + window.spatial);
  const unsigned centre = static_cast<unsigned>(state.c[0]) | static_cast<unsigned>(state.c[1]) << 8U |
                          static_cast<unsigned>(state.c[2]) << 16U | 1U << 24U;
  const int most = window.limit - static_cast<int>(dot4(centre, centre));
  ShiftSums sums;
  for (int y = top; y <= bottom; ++y) {
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(y) * window.width;
    unsigned even = 0, odd = 0;  // components 0 and 2; 1 and the count
#pragma unroll 4
    for (int x = left; x <= right; ++x) {
      const unsigned pixel = __ldg(job.places + line + x);
      const int away = static_cast<int>(dot4(pixel, pixel)) - 2 * static_cast<int>(dot4(pixel, centre));
      const bool inside = away <= most;
      const unsigned value = inside ? (kSame ? pixel : __ldg(job.values + line + x)) : 0U;
      even += value & 0x00ff00ffU;
      odd += value >> 8U & 0x00ff00ffU;
      sums.x += inside ? x : 0;
    }
    const int members = static_cast<int>(odd >> 16U);
    sums.count += members;
    sums.y += y * members;
    sums.c[0] += static_cast<int>(even & 0xffffU);
    sums.c[1] += static_cast<int>(odd & 0xffffU);
    sums.c[2] += static_cast<int>(even >> 16U);
  }
  return sums;
}

template <bool kSame>
static __global__ void __launch_bounds__(kPixelThreads) climb_pixels(const ImageJob job) {
  const MeanShiftWindow& window = job.window;
  const int tiles_x = (window.width + kTileX - 1) / kTileX;
  const int x = static_cast<int>(blockIdx.x) % tiles_x * kTileX + static_cast<int>(threadIdx.x) % kTileX;
  const int y = static_cast<int>(blockIdx.x) / tiles_x * kTileY + static_cast<int>(threadIdx.x) / kTileX;
  if (x >= window.width || y >= window.height) return;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * window.width + x;
  const unsigned start = job.places[at];
  ShiftState state{x,
                   y,
                   {static_cast<int>(start & 255U), static_cast<int>(start >> 8U & 255U),
                    static_cast<int>(start >> 16U & 255U)}};
  ShiftState last = state;  // of the last window that held a pixel
  for (int step = 0; step < window.max_iterations; ++step) {
    const ShiftSums sums = window_sums<true>(job, state);
    if (sums.count == 0) break;
    last = state;
    if (shift_to_mean(window, sums, state)) break;
  }
  if (job.ends != nullptr) job.ends[at] = PackedEnd::of(state);
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
