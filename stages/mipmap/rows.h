// Rows of mipmap levels on the CPU: halve_row where a level is exactly half of the one before, filter_row for
// every other ratio and filter. Each returns the function for a plan, chosen once. Internal.
#pragma once

#include "stages/mipmap/rules.h"

namespace contorno {

/// Fills `width` pixels of a row from 2 * width pixels of two rows.
using HalveRow = void (*)(const LightTables* light, const void* top, const void* bottom, void* out,
                          int width);
/// The fastest function for the plan's pixels that `simd` allows; null for plans that have no such level.
HalveRow halve_row(const MipmapPlan& plan, Simd simd);
/// A hand-written kernel, for uint8 without weighing by alpha; null where there is none.
HalveRow halve_row_simd(const MipmapPlan& plan, Simd simd);

/// Two levels at once: four rows make two of the next level, and those make one of the level after it.
struct HalvedTwice {
  const std::uint8_t* in[4];
  std::uint8_t* half[2];
  std::uint8_t* quarter;
  int half_width, width;  ///< widths of the two levels, px
  bool past_cache;        ///< `half` is written past the cache, as it is not read again soon
};
using HalveTwice = void (*)(const HalvedTwice& rows);
/// The function for uint8 without linear light and weighing by alpha, where this machine has one; otherwise
/// null.
HalveTwice halve_twice(const MipmapPlan& plan, Simd simd);

/// The arguments of a filter function: one row of a level.
struct FilterRow {
  const ImageView* in = nullptr;   ///< the level before; as floats with MipmapSource::Kept
  int plane = 0, y = 0, step = 1;  ///< `step`: samples from pixel to pixel, where a pixel has one sample
  MipmapTaps across, down;
  void* out = nullptr;
  float* kept = nullptr;    ///< gets the same row as floats; or null
  int width = 0;            ///< of the output
  void* columns = nullptr;  ///< scratch of filter_row_bytes()
};
using FilterFunction = void (*)(const LightTables* light, const FilterRow& row);
FilterFunction filter_row(const MipmapPlan& plan, MipmapSource source, Simd simd);
/// Bytes of FilterRow::columns, for input rows of `width` px.
std::size_t filter_row_bytes(const MipmapPlan& plan, int width);

}  // namespace contorno
