// The sums over a window in mean shift of an image, on the CPU. window.inc is compiled for AVX-512, for AVX2
// and for any machine; sums are of whole numbers, so all give the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/mean_shift/image.h"
#include "stages/shared/simd.h"

namespace contorno {

/// The components of an image as 16-bit planes, with rows `stride` samples apart and kPlaneMargin readable
/// samples after the end. Owns nothing.
struct ShiftPlanes {
  const std::uint16_t* component[3] = {nullptr, nullptr, nullptr};
  std::ptrdiff_t stride = 0;
};

inline constexpr int kPlaneMargin = 64;

/// A function that sums `values` over the pixels of the window around `state`: those whose `places`
/// (components) are within window.limit of its components.
using WindowSums = ShiftSums (*)(const MeanShiftWindow& window, const ShiftPlanes& places,
                                 const ShiftPlanes& values, const ShiftState& state);

/// The fastest function that `simd` allows for windows of `width` px.
WindowSums window_sums(Simd simd, int width);
WindowSums window_sums_portable();
WindowSums window_sums_avx2();
WindowSums window_sums_avx512();

}  // namespace contorno
