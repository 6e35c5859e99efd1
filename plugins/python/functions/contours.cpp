// Stages on contours, and what contorno/_contours.py needs beside them.
#include "plugins/python/device/contours.h"

#include <pybind11/stl.h>

#include "pipeline/graph/graph.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/contour_list.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"
#include "stages/contour_prep/order_nearest/stage.h"

namespace contorno::python {
namespace {

template <class T>
using Array = ContourTables::Array<T>;

/// points, offsets, closed, class_begin, sources and attributes by their names of what a stage makes of one
/// frame's contours, the one of number `frame` of a sequence; `maps` is None where it takes them alone.
/// `place` has been decided: 'cpu' or 'cuda'.
py::tuple apply_to_contours(const StageType& type, const py::dict& params, py::object points,
                            std::size_t first, const Array<std::uint32_t>& offsets,
                            const Array<std::uint8_t>& closed, const Array<std::uint32_t>& class_begin,
                            const py::dict& attributes, py::object maps,
                            std::optional<std::pair<int, int>> size, py::handle place, py::handle threads,
                            py::handle stream, StageSequence& sequence, std::uint64_t frame) {
  ParamSet set(type.params);
  set_params(set, params);
  GivenContours given{.points = std::move(points),
                      .first = first,
                      .tables = {.offsets = offsets,
                                 .closed = closed,
                                 .class_begin = class_begin,
                                 .attributes = {},
                                 .columns = {}},
                      .size = size,
                      .maps = std::move(maps)};
  given.tables.set_attributes(attributes);
  MadeContours made;
  if (backend_of(place) == Backend::Cuda) {
    threads_for(threads, 1);  // only to refuse what is no number of threads
    made = apply_on_device(type, set, given, {sequence, frame}, stream);
  } else {
    made = apply_on_host(type, set, given, {sequence, frame}, threads);
  }
  return py::make_tuple(made.points, made.tables.offsets, made.tables.closed, made.tables.class_begin,
                        made.sources, made.tables.attributes_by_name());
}

/// Rows of `points` are (row, column); contours of one frame, class and level begin at each of `begins` but
/// the last.
double pen_up_length_of(const Array<float>& points, const Array<std::uint32_t>& offsets,
                        const Array<std::uint32_t>& begins) {
  ContourTables tables;
  tables.offsets = offsets, tables.class_begin = begins;
  ContourCounts counts;
  return pen_up_length(view_of(tables, reinterpret_cast<const Point*>(points.data()),
                               {.classes = static_cast<int>(begins.size()) - 1}, counts));
}

}  // namespace

void bind_contours(py::module_& module, const CatalogStages& stages) {
  py::class_<StageSequence>(module, "StageSequence")
      .def(py::init<>())
      .def("track_counts", [](const StageSequence& sequence) {
        py::list counts;
        for (const TrackCounts& one : sequence.track_counts())
          counts.append(py::make_tuple(one.births, one.deaths, one.forgotten));
        return counts;
      });
  module.def("apply_to_contours", with_stage(stages, &apply_to_contours));
  module.def("pen_up_length", &pen_up_length_of);
  module.def("points_on_device", &points_on_device);
  module.def("gather_on_device", &gather_on_device);
  // `like`: an array whose device and stream are used, or None.
  module.def("to_device", [](const py::array& array, py::handle like, py::handle stream) {
    return to_device(array, place_of(like.is_none() ? py::handle(array) : like, "contours", stream));
  });
  module.def("contour_list", [](const Array<float>& points, const Array<std::int64_t>& offsets) {
    return contour_list<std::int64_t>(reinterpret_cast<const std::byte*>(points.data()), PointType::Float32,
                                      std::span(offsets.data(), static_cast<std::size_t>(offsets.size())));
  });
}

}  // namespace contorno::python
