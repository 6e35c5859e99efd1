// Applies a stage to contours, on the CPU here and on CUDA in plugins/python/device/contours.h. Points lie on
// the host or on a device; the other arrays are small and pass through the host. contorno/_contours.py makes
// all of them from what users have. Functions are called with the GIL held.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "pipeline/graph/stage.h"
#include "plugins/python/shared/pybind.h"
#include "plugins/python/shared/stage_sequence.h"

namespace contorno::python {

/// What is known of a frame's contours beside their points: class k has contours [class_begin[k],
/// class_begin[k + 1]), contour i points [offsets[i], offsets[i + 1]).
struct ContourTables {
  template <class T>
  using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;
  Array<std::uint32_t> offsets;
  Array<std::uint8_t> closed;
  Array<std::uint32_t> class_begin;
  Attributes attributes;
  Array<double> columns;  ///< of attributes, as ContoursView has them: (attributes.count(), column_stride())

  /// Takes arrays by the names of attributes, each with a number a contour. Throws ValueError for unknown
  /// names and arrays of another length.
  void set_attributes(const py::dict& by_name);
  py::dict attributes_by_name() const;
  std::uint32_t points() const { return *offsets.data(offsets.size() - 1); }
  std::uint32_t contours() const { return static_cast<std::uint32_t>(closed.size()); }
};

/// One frame's contours as arguments: rows [first, first + tables.points()) of `points`, an array of (row,
/// column). `size` is the width and height of the map; without it, the map is taken as the smallest square
/// with a power of two on each side that has all points.
struct GivenContours {
  py::object points;
  std::size_t first = 0;
  ContourTables tables;
  std::optional<std::pair<int, int>> size;
  py::object maps = py::none();  ///< of a stage that also takes the maps: an array with the axes (C, H, W)
};

/// The contours that a stage made. Where the stage selects contours and leaves them whole, `sources` has the
/// index of each among those that were given, and `points` is None; else `points` is an (n, 2) array of
/// float32, and `sources` is None.
struct MadeContours {
  py::object points, sources;
  ContourTables tables;
};

/// The format with which a stage is planned for these contours. Capacities are powers of two, so that a stage
/// is not planned anew for every frame. The map has the sides of `size`, or 0 without it.
ContoursFormat format_of(const GivenContours& given);
/// Sets the sides of the map where the caller did not give them; `largest` is the largest coordinate.
void set_sides(ContoursFormat& format, double largest);
/// The largest coordinate, at least 0.
double largest_of(const Point* points, std::uint64_t count);
/// A view of `tables` and `points` where they lie, only to be read; it points to `counts`, which is set to
/// the numbers of points and contours.
ContoursView view_of(const ContourTables& tables, const Point* points, const ContoursFormat& format,
                     ContourCounts& counts);
/// Copies of the tables of a view.
ContourTables read_tables(const ContoursView& from);

/// Applies `type` with the parameters `set`. `given.points` is an array of float32. Throws what DirectStage
/// throws.
MadeContours apply_on_host(const StageType& type, const ParamSet& set, const GivenContours& given,
                           const SequenceFrame& frame, py::handle threads);

}  // namespace contorno::python
