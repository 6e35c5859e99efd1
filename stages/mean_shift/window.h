// Windows of the image mean shift on the CPU: which pixels belong, and their sums. Compiled for AVX-512, AVX2
// and for any machine from one text (window.inc); whole numbers, so all give the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/mean_shift/image.h"
#include "stages/shared/simd.h"

namespace contorno {

/// Components as 16-bit planes; rows `stride` samples apart, with kPlaneMargin readable ones behind the end.
struct ShiftPlanes {
  const std::uint16_t* component[3] = {nullptr, nullptr, nullptr};
  std::ptrdiff_t stride = 0;
};

inline constexpr int kPlaneMargin = 64;

/// Sums of `values` over the pixels around `state` whose `places` are near its components.
using WindowSums = ShiftSums (*)(const MeanShiftWindow& window, const ShiftPlanes& places,
                                 const ShiftPlanes& values, const ShiftState& state);

WindowSums window_sums(Simd simd);
WindowSums window_sums_portable();
WindowSums window_sums_avx2();
WindowSums window_sums_avx512();

}  // namespace contorno
