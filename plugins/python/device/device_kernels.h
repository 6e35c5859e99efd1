// Kernels that only the Python package needs. All enqueue on `stream`.
#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.h"
#include "pipeline/value/image.h"

namespace contorno::python {

/// An array on a device with four axes (frames, planes, rows, columns, or others); strides are in bytes.
struct StridedSamples {
  const void* data = nullptr;
  std::array<std::int64_t, 4> sides{}, strides{};
  char kind = 'f';  ///< 'b', 'i', 'u', 'f'
  int item_bytes = 4;
};

/// Whether the samples lie in C order without gaps.
bool is_packed(const StridedSamples& samples);

/// What samples become: Bool is 0 or 1, Bytes is 0 or 255, both by "is not 0".
enum class GatherTo : std::uint8_t { Same, Float64, Float32, Int32, Bool, Bytes };

/// Copies samples to C order without gaps. Float64 takes integers, Float32 integers and floats, Int32
/// float32, Bool and Bytes samples of one byte.
void gather_samples(const StridedSamples& from, void* to, GatherTo kind, void* stream);

/// Copies contours out of an array of points, whose last two axes are points and coordinates: the points from
/// `from_begin[i]` on become points [to_begin[i], to_begin[i + 1]) of `to`, which is in C order.
struct PickedContours {
  const std::uint32_t *from_begin = nullptr, *to_begin = nullptr;  ///< on the device; `to_begin` has one more
  unsigned contours = 0, points = 0;
};
void gather_contours(const StridedSamples& from, const PickedContours& picked, void* to, void* stream);

/// Writes kRangeBlocks pairs to `pairs` (on the device): the smallest and largest sample of each block's part
/// of the plane, (infinity, -infinity) where all of these are NaN.
inline constexpr unsigned kRangeBlocks = 256;
void sample_ranges(const ImageView& plane, double* pairs, void* stream);

/// What the planes of a run of the engine are: levels of planes of frames, in this order of nesting.
struct PlaneAxes {
  int planes = 1, levels = 1;

  CONTORNO_HD int level(int all) const { return all % levels; }
  CONTORNO_HD int plane(int all) const { return all / levels % planes; }
  CONTORNO_HD int frame(int all) const { return all / levels / planes; }
};

/// Writes for each contour where its plane, of `all_planes` in `class_begin`, is on these axes.
struct ContourIds {
  std::int32_t *classes = nullptr, *frames = nullptr, *levels = nullptr;
};
void number_contours(const std::uint32_t* class_begin, int all_planes, const PlaneAxes& axes,
                     std::uint64_t contours, const ContourIds& ids, void* stream);

/// to[p] = first contour of plane p, to[planes + 1 + p] = its first point, for p up to `planes`, the end.
void pick_plane_begins(const std::uint32_t* class_begin, const std::uint32_t* offsets, int planes,
                       std::uint32_t* to, void* stream);

/// Contours of one plane of one result, and where they go in the merged result. All pointers are to memory of
/// the device.
struct ContourPiece {
  const void* points = nullptr;
  const std::uint32_t* offsets = nullptr;
  const std::uint8_t* closed = nullptr;
  std::int32_t plane = 0, frame = 0, level = 0;
  std::uint32_t from_contour = 0, from_point = 0;  ///< where the piece begins in its result
  std::uint32_t to_contour = 0, to_point = 0;      ///< and in the merged one
};
struct MergedContours {
  void* points = nullptr;
  std::uint32_t* offsets = nullptr;
  std::uint8_t* closed = nullptr;
  ContourIds ids;
};
/// Copies `count` pieces one after the other. Behind the last, `pieces` (on the device) has one more, whose
/// to_contour and to_point are the totals.
void merge_contours(const ContourPiece* pieces, int count, std::uint64_t contours, std::uint64_t points,
                    std::size_t point_bytes, const MergedContours& to, void* stream);

}  // namespace contorno::python
