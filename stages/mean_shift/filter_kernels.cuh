// The kernels of mean shift of an image. pack_pixels packs each pixel into a word: the lowest byte is 1, so
// that sums count, and the three others are its components. climb_pixels moves every pixel, a thread a pixel.
// pack_pixels is no loop of Thrust, which takes 3.2 us instead of 2.5 for 511 x 95 pixels in CIE L*a*b* on an
// H200 (for_each_number, cuda/thrust.cuh).
//
// A thread reads four words at a time, because the lanes of a warp soon read different rows. A squared
// distance is a dot product of four bytes. Which of four pixels belong to the window is a word of four bytes;
// its dot product with four bytes of a component is the sum over the pixels that belong.
#pragma once

#include "cuda/launch.cuh"
#include "stages/mean_shift/segment.h"

namespace contorno::mean_shift_cuda {

inline constexpr unsigned kPixelThreads = 128;
inline constexpr int kTileX = 32, kTileY = 4;
inline constexpr int kGroup = 4;  // pixels (words) that a thread reads at a time

struct ImageJob {
  MeanShiftWindow window;
  ShiftColours colours;
  int channels = 3;
  const unsigned char* in = nullptr;
  std::ptrdiff_t in_pitch = 0;
  unsigned char* out = nullptr;  ///< the filtered image, or null
  std::ptrdiff_t out_pitch = 0;
  int stride = 0;              ///< words a row, a multiple of kGroup
  unsigned* places = nullptr;  ///< packed components, a word a pixel
  unsigned* values = nullptr;  ///< the image's colours, packed; the same array as `places` in RGB
  PackedEnd* ends = nullptr;   ///< where the climb of each pixel ended, for segmentation; or null
};

inline constexpr unsigned kOnes = 0x01010101U;

/// `sum` plus the dot product of the four bytes of a and of b.
__device__ __forceinline__ unsigned dot4(unsigned a, unsigned b, unsigned sum) {
#if defined(CONTORNO_EMULATE)
  for (unsigned k = 0; k < 32; k += 8) sum += (a >> k & 255U) * (b >> k & 255U);
  return sum;
#else
  return __dp4a(a, b, sum);
#endif
}

/// The absolute differences of the four bytes of a and of b.
__device__ __forceinline__ unsigned difference4(unsigned a, unsigned b) {
#if defined(CONTORNO_EMULATE)
  unsigned away = 0;
  for (unsigned k = 0; k < 32; k += 8) {
    const unsigned x = a >> k & 255U, y = b >> k & 255U;
    away |= (x < y ? y - x : x - y) << k;
  }
  return away;
#else
  return __vabsdiffu4(a, b);
#endif
}

/// A byte for each of four numbers: 255 where the number is negative, else 0.
__device__ __forceinline__ unsigned negative(int a, int b, int c, int d) {
#if defined(CONTORNO_EMULATE)
  return (a < 0 ? 0xffU : 0U) | (b < 0 ? 0xff00U : 0U) | (c < 0 ? 0xff0000U : 0U) |
         (d < 0 ? 0xff000000U : 0U);
#else
  unsigned low, high;  // prmt copies the sign of a byte that is selected with 8 added
  asm("prmt.b32 %0, %1, %2, 0x00fb;" : "=r"(low) : "r"(a), "r"(b));
  asm("prmt.b32 %0, %1, %2, 0x00fb;" : "=r"(high) : "r"(c), "r"(d));
  return __byte_perm(low, high, 0x5410U);
#endif
}

/// Component k of a word.
__device__ __forceinline__ int component(unsigned word, int k) {
  return static_cast<int>(word >> (8 * k + 8) & 255U);
}

/// Packs all pixels. kSame: the components are the image's colours.
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

/// Which pixels of a row of the window belong to it, counted.
struct RowSums {
  unsigned counts = 0;  ///< a byte for each column of a group; a row has at most 66 groups
  unsigned behind = 0;  ///< the sum of `counts` after each group, added up over groups
};

/// Squared distance of a pixel's components from the window's centre, minus (limit + 1): negative if the
/// pixel belongs. There are two ways to the same number, which use different units of the processor side by
/// side.
struct Distance {
  unsigned centre;
  unsigned from_products, from_difference;  ///< initial sums of the two ways

  __device__ __forceinline__ Distance(unsigned word, int limit)
      : centre(word),
        from_products(dot4(word, word, 0U) - static_cast<unsigned>(limit) - 1U),
        from_difference(0U - static_cast<unsigned>(limit) - 1U) {}
  /// |a - c|^2 = a.a - 2 a.c + c.c.
  __device__ __forceinline__ int by_products(unsigned pixel) const {
    return static_cast<int>(dot4(pixel, pixel, from_products) - 2U * dot4(pixel, centre, 0U));
  }
  __device__ __forceinline__ int by_difference(unsigned pixel) const {
    const unsigned away = difference4(pixel, centre);
    return static_cast<int>(dot4(away, away, from_difference));
  }
};

/// Adds a group of four pixels; `eligible` has a 1 in the byte of every pixel that may belong.
template <bool kSame>
__device__ __forceinline__ void add_group(const uint4* places, const uint4* values, unsigned eligible,
                                          const Distance& distance, unsigned* sums, RowSums& row) {
  const uint4 place = __ldg(places);
  const unsigned inside = negative(distance.by_products(place.x), distance.by_difference(place.y),
                                   distance.by_products(place.z), distance.by_difference(place.w)) &
                          eligible;
  const uint4 value = kSame ? place : __ldg(values);
  const unsigned first = __byte_perm(value.x, value.y, 0x6251U),  // components 0 and 1 of two pixels
      second = __byte_perm(value.z, value.w, 0x6251U);
  sums[0] = dot4(__byte_perm(first, second, 0x5410U), inside, sums[0]);
  sums[1] = dot4(__byte_perm(first, second, 0x7632U), inside, sums[1]);
  sums[2] = dot4(
      __byte_perm(__byte_perm(value.x, value.y, 0x0073U), __byte_perm(value.z, value.w, 0x7300U), 0x7610U),
      inside, sums[2]);
  row.counts += inside;
  row.behind = dot4(row.counts, kOnes, row.behind);
}

/// Sums of `values` over the window around `state`.
template <bool kSame>
__device__ __forceinline__ ShiftSums window_sums(const ImageJob& job, const ShiftState& state) {
  const MeanShiftWindow& window = job.window;
  const int left = max(0, state.x - window.spatial), right = min(window.width - 1, state.x + window.spatial);
  const int top = max(0, state.y - window.spatial), bottom = min(window.height - 1, state.y + window.spatial);
  const Distance distance(1U | static_cast<unsigned>(state.c[0]) << 8U |
                              static_cast<unsigned>(state.c[1]) << 16U |
                              static_cast<unsigned>(state.c[2]) << 24U,
                          window.limit);
  const int first = left / kGroup * kGroup, last = right / kGroup * kGroup, groups = (last - first) / kGroup;
  const unsigned in_last = kOnes >> static_cast<unsigned>(8 * (last + kGroup - 1 - right)),
                 in_first =
                     kOnes << static_cast<unsigned>(8 * (left - first)) & (first == last ? in_last : ~0U);
  unsigned components[3] = {0, 0, 0};
  ShiftSums sums;
  for (int y = top; y <= bottom; ++y) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * job.stride + first;
    const auto* places = reinterpret_cast<const uint4*>(job.places + at);
    const auto* values = reinterpret_cast<const uint4*>(job.values + at);
    RowSums row;
    add_group<kSame>(places, values, in_first, distance, components, row);
#pragma unroll 3
    for (int g = 1; g < groups; ++g)
      add_group<kSame>(places + g, values + g, kOnes, distance, components, row);
    if (groups > 0) add_group<kSame>(places + groups, values + groups, in_last, distance, components, row);
    const int members = static_cast<int>(dot4(row.counts, kOnes, 0));
    sums.count += members;
    // row.behind has a member once for its own group and once for each later group of the row.
    sums.x += (last + kGroup) * members - kGroup * static_cast<int>(row.behind) +
              static_cast<int>(dot4(row.counts, 0x03020100U, 0));
    sums.y += y * members;
  }
  for (int k = 0; k < 3; ++k) sums.c[k] = static_cast<int>(components[k]);
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
