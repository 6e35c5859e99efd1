// What the two backends of find_contours_batch share: the meaning of shapes and levels, and the form of
// results. Functions are called with the GIL held.
#pragma once

#include <span>
#include <vector>

#include "plugins/python/host/find_in_maps.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// The levels of each plane, plane by plane: `per_plane` values for each.
struct Levels {
  std::vector<double> values;
  int per_plane = 1;
  bool is_list = false;  ///< results have an axis for levels
};

/// What the axes of an array of maps mean.
struct StackShape {
  int dimensions = 2, frames = 1;
  ImageFormat format;  ///< without the element type
};

/// Axes (H, W); with C planes (C, H, W) or (H, W, C), as `layout` says; or frames of these. Throws
/// ValueError.
StackShape stack_shape(std::span<const std::int64_t> sides, Layout layout);

/// `given` is a number for all planes, (L,) with L levels of maps that are one plane (H, W), (C,) with one
/// level a plane of others, or (C, L) with L levels a plane; C may be 1 for all planes. Throws ValueError.
Levels levels_of(const py::array_t<double>& given, const StackShape& shape);

/// Throws ValueError for a divisor other than 1 unless samples are uint8 or uint16, and not booleans.
void check_divisor(double divisor, ElementType type, bool boolean);

/// NumPy arrays points, offsets, closed, class_ids, frame_ids and level_ids, over the memory of `found`.
py::tuple flat_arrays(FlatContours found, PointType type);
/// The contours of one plane and level as a list of NumPy arrays; lists of such lists for levels, if they are
/// a list, around them for planes, and around them for frames, if the maps have such axes.
py::object nested_lists(const FlatContours& flat, PointType type, const StackShape& shape,
                        const Levels& levels);

}  // namespace contorno::python
