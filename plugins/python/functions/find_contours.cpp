// find_contours and find_segments of one image: scikit-image's rules about arguments, and arrays as results.
#include "stages/contours/find_contours.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <optional>
#include <utility>
#include <vector>

#include "plugins/python/device/on_device.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/contour_list.h"
#include "plugins/python/host/host_array.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"
#include "stages/contours/find_segments.h"

namespace contorno::python {
namespace {

/// Images from this size on are linked band by band, so that Ctrl-C is answered in time; the results are the
/// same.
constexpr std::int64_t kWatchedSamples = 1 << 18, kBandSamples = 1 << 20;

void check_sides(const std::vector<std::int64_t>& sides) {
  if (sides.size() < 2) throw py::value_error("Only 2D arrays are supported.");
  if (sides[0] < 2 || sides[1] < 2) throw py::value_error("Input array must be at least 2x2.");
  if (sides.size() != 2) throw py::value_error("Only 2D arrays are supported.");
  if (sides[0] > kMaxSide || sides[1] > kMaxSide)
    throw py::value_error(
        fmt::format("the image has {} rows and {} columns, allowed {} each", sides[0], sides[1], kMaxSide));
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

/// find(image, options) of an array on the host, without the GIL. `options` has what is not among the other
/// arguments.
template <class Find>
auto find_on_cpu(const Find& find, py::handle object, py::handle level, py::handle mask, py::handle threads,
                 FindContoursOptions options) {
  HostArray image(object, "image");
  check_sides(image.sides());
  std::optional<HostArray> mask_array;
  if (!mask.is_none()) options.mask = checked_mask(mask_array.emplace(mask, "mask"), image);
  image.make_readable(1);
  options.level = level_of(level, image);
  const std::int64_t samples = image.elements();
  options.threads = threads_for(threads, static_cast<std::uint64_t>(samples));
  const ImageView view = view_of(image);
  const py::gil_scoped_release released;
  std::optional<SignalWatch> watch;
  if (samples >= kWatchedSamples) watch.emplace();
  if (samples > kBandSamples && options.threads == 1)
    options.band_rows = static_cast<int>(kBandSamples / image.side(1) + 1);
  return find(view, options);
}

py::list list_of(const FoundContours& found) {
  return contour_list<std::uint32_t>(reinterpret_cast<const std::byte*>(found.points.data()),
                                     PointType::Float64,
                                     std::span(found.offsets.data(), found.offsets.size()));
}

py::list find_on_cuda(py::handle image, py::handle level, py::handle mask,
                      const FindContoursOptions& options) {
  const FoundInMaps found = find_one_on_device(
      image, level, mask,
      {.fully_connected = options.fully_connected, .positive_orientation = options.positive_orientation},
      &check_sides);
  return contour_list<std::uint32_t>(found.points.data(), PointType::Float64,
                                     std::span(found.offsets.data(), found.offsets.size()));
}

FindContoursOptions options_of(py::handle fully_connected, py::handle positive_orientation) {
  FindContoursOptions options;
  options.fully_connected =
      is_high(fully_connected, "fully_connected") ? Connectivity::High : Connectivity::Low;
  options.positive_orientation =
      is_high(positive_orientation, "positive_orientation") ? Orientation::High : Orientation::Low;
  return options;
}

py::object find(py::object image, py::handle level, py::handle fully_connected,
                py::handle positive_orientation, py::object mask, py::handle backend, py::handle threads) {
  const FindContoursOptions options = options_of(fully_connected, positive_orientation);
  if (!on_device_or_to_host(backend_of(backend), image, mask, "image", py::none()))
    return list_of(find_on_cpu(find_contours, image, level, mask, threads, options));
  threads_for(threads, 1);
  return find_on_cuda(image, level, mask, options);
}

/// Arrays of (n, 2, 2) float64 and of (n, 2) int32.
py::tuple segments(py::object image, py::handle level, py::handle fully_connected,
                   py::handle positive_orientation, py::object mask, py::handle threads) {
  on_device_or_to_host(Backend::Cpu, image, mask, "image", py::none());
  auto found = std::make_unique<FoundSegments>(find_on_cpu(
      find_segments, image, level, mask, threads, options_of(fully_connected, positive_orientation)));
  FoundSegments* const kept = found.release();
  const py::capsule owner(kept, [](void* one) { delete static_cast<FoundSegments*>(one); });
  const auto count = static_cast<py::ssize_t>(kept->count());
  static_assert(sizeof(PointD) == 2 * sizeof(double) && sizeof(CellPlace) == 2 * sizeof(std::int32_t));
  return py::make_tuple(
      py::array_t<double>({count, py::ssize_t{2}, py::ssize_t{2}}, &kept->points.data()->row, owner),
      py::array_t<std::int32_t>({count, py::ssize_t{2}}, &kept->cells.data()->row, owner));
}

}  // namespace

void bind_find_contours(py::module_& module) {
  module.def("find_contours", &find);
  module.def("find_segments", &segments);
}

}  // namespace contorno::python
