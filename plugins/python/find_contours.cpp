// find_contours of one image: scikit-image's rules about arguments, and a list of arrays as the result.
#include "stages/find_contours.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "plugins/python/bindings.h"
#include "plugins/python/host_array.h"
#include "plugins/python/process.h"

namespace contorno::python {
namespace {

/// Images from this size on are linked band by band, so that Ctrl-C is answered in time; the results are the
/// same.
constexpr std::int64_t kWatchedSamples = 1 << 18, kBandSamples = 1 << 20;

void check_sides(const HostArray& image) {
  if (image.dimensions() < 2) throw py::value_error("Only 2D arrays are supported.");
  if (image.side(0) < 2 || image.side(1) < 2) throw py::value_error("Input array must be at least 2x2.");
  if (image.dimensions() != 2) throw py::value_error("Only 2D arrays are supported.");
  if (image.side(0) > kMaxSide || image.side(1) > kMaxSide)
    throw py::value_error(fmt::format("the image has {} rows and {} columns, allowed {} each", image.side(0),
                                      image.side(1), kMaxSide));
}

ImageView view_of(const HostArray& image) {
  return {image.data(),
          {.width = static_cast<int>(image.side(1)),
           .height = static_cast<int>(image.side(0)),
           .channels = 1,
           .type = image.type()},
          static_cast<std::ptrdiff_t>(image.stride(0)),
          0};
}

ImageView checked_mask(HostArray& mask, const HostArray& image) {
  if (!mask.same_shape(image))
    throw py::value_error("Parameters \"array\" and \"mask\" must have same shape.");
  mask.make_readable(1);
  if (!mask.is_boolean()) throw py::type_error("Parameter \"mask\" must be a binary array.");
  return view_of(mask);
}

/// What scikit-image takes as level; NumPy answers for types that were converted.
std::optional<double> level_of(py::handle level, const HostArray& image) {
  if (level.is_none()) {
    if (!image.was_converted()) return std::nullopt;
    return py::module_::import("contorno._arrays").attr("default_level")(image.object()).cast<double>();
  }
  return number(level);
}

py::list to_list(const FoundContours& found) {
  const auto count = static_cast<Py_ssize_t>(found.count());
  auto list = py::reinterpret_steal<py::list>(PyList_New(count));
  if (!list) throw py::error_already_set();
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto contour = found.contour(static_cast<std::size_t>(i));
    py::array array = make_points<double>(static_cast<Py_ssize_t>(contour.size()));
    std::memcpy(array.mutable_data(), contour.data(), contour.size_bytes());
    PyList_SET_ITEM(list.ptr(), i, array.release().ptr());
  }
  return list;
}

py::list find_on_cpu(py::handle object, py::handle level, py::handle mask, py::handle threads,
                     FindContoursOptions options) {
  HostArray image(object, "image");
  check_sides(image);
  std::optional<HostArray> mask_array;
  if (!mask.is_none()) options.mask = checked_mask(mask_array.emplace(mask, "mask"), image);
  image.make_readable(1);
  options.level = level_of(level, image);
  const std::int64_t samples = image.elements();
  options.threads = threads_for(threads, static_cast<std::uint64_t>(samples));
  const ImageView view = view_of(image);
  FoundContours found;
  {
    const py::gil_scoped_release released;
    std::optional<SignalWatch> watch;
    if (samples >= kWatchedSamples) watch.emplace();
    if (samples > kBandSamples && options.threads == 1)
      options.band_rows = static_cast<int>(kBandSamples / image.side(1) + 1);
    found = find_contours(view, options);
  }
  return to_list(found);
}

py::object find(py::handle image, py::handle level, py::handle fully_connected,
                py::handle positive_orientation, py::handle mask, py::handle backend, py::handle threads) {
  FindContoursOptions options;
  options.fully_connected =
      is_high(fully_connected, "fully_connected") ? Connectivity::High : Connectivity::Low;
  options.positive_orientation =
      is_high(positive_orientation, "positive_orientation") ? Orientation::High : Orientation::Low;
  if (backend_of(backend) == Backend::Cuda) require_cuda();
  return find_on_cpu(image, level, mask, threads, options);
}

}  // namespace

void bind_find_contours(py::module_& module) {
  module.def("find_contours", &find);
}

}  // namespace contorno::python
