// The kernels of nv12.h. Each step rounds as GstVideoConverter does: chroma is interpolated across and then
// down (averaged down and then across on the way back), and colours are products of 16 bits of which the
// upper half is kept.
#pragma once

#include "cuda/launch.cuh"
#include "plugins/gst/element/nv12.h"

namespace contorno::gst::nv12_cuda {

inline constexpr int kThreads = 256;

struct Yuv {
  int y, u, v;
};

/// RGBA of 8 bits as one word, red in its lowest byte.
__device__ inline int channel(std::uint32_t rgba, int index) {
  return static_cast<int>(rgba >> (8 * index) & 255U);
}

/// A sample around its middle, stretched over 16 bits.
__device__ inline int stretched(int sample) {
  return static_cast<std::int16_t>(((sample - 128) & 255) * 257);
}
__device__ inline int upper_half(int a, int b) {
  return (a * b) >> 16;
}
/// Back from around the middle.
__device__ inline int saturated(int value) {
  return (value < -128 ? -128 : value > 127 ? 127 : value) + 128;
}

// From NV12 -----------------------------------------------------------------------------------------------
/// Chroma of column `x` in row `row` of the plane; `which` is 0 for Cb and 1 for Cr.
__device__ inline int chroma_across(const Nv12Planes& from, bool cosited, int x, int row, int which) {
  const std::uint8_t* const pairs = from.chroma + row * from.chroma_pitch + which;
  const bool odd = x % 2 != 0;
  if (odd && x == from.width - 1) return pairs[x - 1];
  if (cosited) return odd ? (pairs[x - 1] + pairs[x + 1] + 1) >> 1 : pairs[x];
  if (x == 0) return pairs[0];
  return odd ? (3 * pairs[x - 1] + pairs[x + 1] + 2) >> 2 : (pairs[x - 2] + 3 * pairs[x] + 2) >> 2;
}

__device__ inline int chroma_at(const Nv12Planes& from, const Nv12Colours& colours, int x, int y, int which) {
  const int row = y / 2, other = y % 2 != 0 ? row + 1 : row - 1;
  const int own = chroma_across(from, colours.cosited_x, x, row, which);
  if (colours.cosited_y || other < 0 || other >= (from.height + 1) / 2) return own;
  return (3 * own + chroma_across(from, colours.cosited_x, x, other, which) + 2) >> 2;
}

__device__ inline std::uint32_t to_rgba(const Yuv& pixel, const Nv12Colours& colours) {
  const auto& factors = colours.to_rgb;
  const int u = stretched(pixel.u), v = stretched(pixel.v);
  const int y = upper_half(stretched(pixel.y), factors[0]);
  const int red = saturated(y + upper_half(v, factors[1]));
  const int blue = saturated(y + upper_half(u, factors[2]));
  const int green = saturated(y + upper_half(u, factors[3]) + upper_half(v, factors[4]));
  return static_cast<std::uint32_t>(red) | static_cast<std::uint32_t>(green) << 8U |
         static_cast<std::uint32_t>(blue) << 16U | 255U << 24U;
}

/// A thread a pixel; `row_blocks` blocks a row.
__global__ void nv12_to_rgba(Nv12Planes from, Nv12Colours colours, ImageView to, int row_blocks) {
  const int y = static_cast<int>(blockIdx.x) / row_blocks;
  const int x = static_cast<int>(blockIdx.x) % row_blocks * kThreads + static_cast<int>(threadIdx.x);
  if (x >= from.width) return;
  const Yuv pixel{from.luma[y * from.luma_pitch + x], chroma_at(from, colours, x, y, 0),
                  chroma_at(from, colours, x, y, 1)};
  to.row<std::uint32_t>(y)[x] = to_rgba(pixel, colours);
}

// To NV12 -------------------------------------------------------------------------------------------------
/// Y, Cb or Cr of a pixel.
__device__ inline int component(std::uint32_t rgba, const Nv12Colours& colours, int which) {
  const auto& factors = colours.to_yuv[which];
  int sum = 0;
  if (!colours.clips) {
    for (int i = 0; i < 3; ++i) sum += factors[i] * channel(rgba, i);
    return (sum + factors[3]) >> 8;
  }
  for (int i = 0; i < 3; ++i)
    sum += upper_half(stretched(channel(rgba, i)), static_cast<std::int16_t>(factors[i]));
  return saturated(sum);
}

/// Chroma of column `x` in rows 2 * row and 2 * row + 1.
__device__ inline int chroma_down(const ImageView& from, const Nv12Colours& colours, int x, int row,
                                  int which) {
  const int first = component(from.row<const std::uint32_t>(2 * row)[x], colours, which);
  if (colours.cosited_y || 2 * row + 1 == from.format.height) return first;
  return (first + component(from.row<const std::uint32_t>(2 * row + 1)[x], colours, which) + 1) >> 1;
}

__device__ inline int chroma_of(const ImageView& from, const Nv12Colours& colours, int column, int row,
                                int which) {
  const int x = 2 * column, width = from.format.width;
  const auto at = [&](int place) { return chroma_down(from, colours, place, row, which); };
  if (width == 1) return at(x);
  if (!colours.cosited_x) return x + 1 < width ? (at(x) + at(x + 1) + 1) >> 1 : at(x);
  if (x == 0) return (3 * at(0) + at(1) + 2) >> 2;
  if (x >= width - 2) return (at(x - 1) + 3 * at(x) + 2) >> 2;
  return (at(x - 1) + 2 * at(x) + at(x + 1) + 2) >> 2;
}

/// A thread a pair of chroma, with its pixels; `row_blocks` blocks a row of pairs.
__global__ void changes_to_nv12(ImageView before, ImageView after, Nv12Colours colours, Nv12Planes to,
                                int row_blocks) {
  const int row = static_cast<int>(blockIdx.x) / row_blocks;
  const int column = static_cast<int>(blockIdx.x) % row_blocks * kThreads + static_cast<int>(threadIdx.x);
  bool any = false;
  for (int y = 2 * row; y < 2 * row + 2 && y < to.height; ++y)
    for (int x = 2 * column; x < 2 * column + 2 && x < to.width; ++x) {
      const std::uint32_t drawn = after.row<const std::uint32_t>(y)[x];
      if (drawn == before.row<const std::uint32_t>(y)[x]) continue;
      any = true;
      to.luma[y * to.luma_pitch + x] = static_cast<std::uint8_t>(component(drawn, colours, 0));
    }
  if (!any) return;
  std::uint8_t* const pair = to.chroma + row * to.chroma_pitch + 2 * column;
  for (int which = 1; which < 3; ++which)
    pair[which - 1] = static_cast<std::uint8_t>(chroma_of(after, colours, column, row, which));
}

}  // namespace contorno::gst::nv12_cuda
