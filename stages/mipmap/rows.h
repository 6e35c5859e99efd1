// Rows of mipmap levels on the CPU: halve_row where a level is exactly half of the one before, filter_row for
// every other ratio and filter. Internal.
#pragma once

#include "stages/mipmap/rules.h"

namespace contorno {

/// The tables of the plan in host memory.
MipmapLight host_light(const MipmapPlan& plan);

/// Fills `width` pixels of a row from 2 * width pixels of two rows.
using HalveRow = void (*)(const MipmapLight& light, const void* top, const void* bottom, void* out,
                          int width);
/// For the plan's pixels; the fastest that `simd` allows.
HalveRow halve_row(const MipmapPlan& plan, Simd simd);
/// Hand-written kernels for uint8 without alpha weights, or null.
HalveRow halve_row_simd(const MipmapPlan& plan, Simd simd);

/// Two levels at once: four rows make two of the next level, and those make one of the level after it.
struct HalvedTwice {
  const std::uint8_t* in[4];
  std::uint8_t* half[2];
  std::uint8_t* quarter;
  int half_width, width;  ///< of the two levels, px
  bool past_cache;        ///< `half` is not read again soon
};
using HalveTwice = void (*)(const HalvedTwice& rows);
/// For uint8 without light and alpha weights, where this machine has such a kernel; else null.
HalveTwice halve_twice(const MipmapPlan& plan, Simd simd);

/// One row of a level.
struct FilterRow {
  const ImageView* in = nullptr;   ///< the level before; float where levels are kept
  int plane = 0, y = 0, step = 1;  ///< samples from pixel to pixel, where a pixel is one
  MipmapTaps across, down;
  void* out = nullptr;
  float* kept = nullptr;  ///< the same row before quantisation, or null
  int width = 0;          ///< of the output
  void* columns = nullptr;
};
using FilterFunction = void (*)(const MipmapLight& light, const FilterRow& row);
FilterFunction filter_row(const MipmapPlan& plan, MipmapSource source, Simd simd);
/// Of `columns`, for rows of `width` px.
std::size_t filter_row_bytes(const MipmapPlan& plan, int width);

}  // namespace contorno
