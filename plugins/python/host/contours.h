// A stage on contours: their points lie on the host or on a device, what else is known of them is little and
// passes through the host as NumPy arrays. contorno/_contours.py makes these of what users have. With the GIL
// held.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "pipeline/graph/stage.h"
#include "plugins/python/shared/pybind.h"

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

  /// The attributes by their names, of which each array has a number a contour. Throws ValueError.
  void set_attributes(const py::dict& by_name);
  py::dict attributes_by_name() const;
  std::uint32_t points() const { return *offsets.data(offsets.size() - 1); }
  std::uint32_t contours() const { return static_cast<std::uint32_t>(closed.size()); }
};

/// One frame's contours as arguments: rows [first, first + tables.points()) of `points`, an array of (row,
/// column). `size`: width and height of the map; without it, of the smallest square with a power of two on
/// each side that has all points.
struct GivenContours {
  py::object points;
  std::size_t first = 0;
  ContourTables tables;
  std::optional<std::pair<int, int>> size;
};

/// What a stage made of them. Where it selected contours and left them whole, the number of each in what was
/// given, and no points; else points of float32, and no numbers.
struct MadeContours {
  py::object points, sources;
  ContourTables tables;
};

/// With their attributes, room for the contours, and powers of two of them, so that a stage is not planned
/// anew for every frame. Its map has the sides of `size`, else none.
ContoursFormat format_of(const GivenContours& given);
/// The sides where the caller did not give them; `largest` is the largest coordinate.
void set_sides(ContoursFormat& format, double largest);
/// The largest coordinate, at least 0.
double largest_of(const Point* points, std::uint64_t count);
/// The tables where they lie, to be read; `counts` gets how many there are.
ContoursView view_of(const ContourTables& tables, const Point* points, const ContoursFormat& format,
                     ContourCounts& counts);
/// Copies of the tables of a view.
ContourTables read_tables(const ContoursView& from);

/// `given.points` is an array of float32. Throws what DirectStage throws.
MadeContours apply_on_host(const StageType& type, const ParamSet& set, const GivenContours& given,
                           py::handle threads);

}  // namespace contorno::python
