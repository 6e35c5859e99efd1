// What the two backends of find_contours_batch share: the meaning of shapes and levels, and the form of
// results. With the GIL held.
#pragma once

#include <span>
#include <vector>

#include "plugins/python/host/find_in_maps.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// One value, or several, for each plane, plane by plane.
struct Levels {
  std::vector<double> values;
  int per_plane = 1;
  bool is_list = false;  ///< results have an axis for levels
};

/// A number: all planes; (C,): one a plane; (C, L) or (1, L): several a plane. Throws ValueError.
Levels levels_of(const py::array_t<double>& given, int planes);

/// What the axes of an array of maps mean.
struct StackShape {
  int dimensions = 2, frames = 1;
  ImageFormat format;  ///< without the element type
};

/// (H, W), planes, or frames of planes. Throws ValueError.
StackShape stack_shape(std::span<const std::int64_t> sides, Layout layout);

/// Only uint8 and uint16 are divided. Throws ValueError.
void check_divisor(double divisor, ElementType type, bool boolean);

/// points, offsets, closed, class_ids, frame_ids, level_ids, over the memory of `found`.
py::tuple flat_arrays(FlatContours found, PointType type);
/// Lists of contours in lists for each axis that the maps and levels have.
py::object nested_lists(const FlatContours& flat, PointType type, const StackShape& shape,
                        const Levels& levels);

}  // namespace contorno::python
