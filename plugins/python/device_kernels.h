// Kernels that only the Python package needs. All enqueue on `stream`.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/image.h"

namespace contorno::python {

/// Frames, planes, rows, columns, with strides in bytes.
struct StridedSamples {
  const void* data = nullptr;
  std::array<std::int64_t, 4> sides{}, strides{};
  char kind = 'f';  ///< 'b', 'i', 'u', 'f'
  int item_bytes = 4;
};

/// Copies samples to C order without gaps; with `to_double` as float64, which need not be a type of contorno.
void gather_samples(const StridedSamples& from, void* to, bool to_double, void* stream);

/// Smallest and largest sample of one plane, in pairs, one a block; (infinity, -infinity) where all are NaN.
inline constexpr unsigned kRangeBlocks = 256;
void sample_ranges(const ImageView& plane, double* pairs, void* stream);

/// Which plane of which frame each contour belongs to: plane p of `class_begin` is plane p % planes of frame
/// p / planes; with `by_level`, planes are levels.
struct ContourIds {
  std::int32_t *classes = nullptr, *frames = nullptr, *levels = nullptr;
};
void number_contours(const std::uint32_t* class_begin, int all_planes, int planes, bool by_level,
                     std::uint64_t contours, const ContourIds& ids, void* stream);

}  // namespace contorno::python
