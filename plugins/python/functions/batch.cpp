// find_contours_batch: its arguments, and the search on the CPU.
#include "plugins/python/host/batch.h"

#include <fmt/format.h>

#include <optional>

#include "plugins/python/device/on_device.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/host_array.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

MapStack stack_of(HostArray& maps, const StackShape& shape) {
  const bool planar = shape.format.layout == Layout::Planar;
  maps.make_readable(planar ? 1 : 2);
  const int last = maps.dimensions() - 1;
  MapStack stack{.frames = shape.frames};
  stack.first = {maps.data(), shape.format,
                 static_cast<std::ptrdiff_t>(maps.stride(planar ? last - 1 : last - 2)), 0};
  stack.first.format.type = maps.type();
  if (planar && shape.dimensions > 2)
    stack.first.plane_pitch = static_cast<std::ptrdiff_t>(maps.stride(last - 2));
  if (shape.dimensions == 4) stack.frame_pitch = static_cast<std::ptrdiff_t>(maps.stride(0));
  return stack;
}

ImageView mask_view(HostArray& mask, const ImageFormat& format) {
  if (mask.dimensions() != 2 || mask.side(0) != format.height || mask.side(1) != format.width)
    throw py::value_error(
        fmt::format("mask must have the shape of a plane, ({}, {})", format.height, format.width));
  mask.make_readable(1);
  if (!mask.is_boolean()) throw py::type_error("mask must be a boolean array");
  return {mask.data(),
          {.width = format.width, .height = format.height, .channels = 1},
          static_cast<std::ptrdiff_t>(mask.stride(0)),
          0};
}

py::object find_on_cpu(py::handle object, const py::array_t<double>& given_levels, py::handle mask,
                       py::handle threads, const BatchArguments& arguments) {
  HostArray maps(object, "maps");
  MapsOptions options = arguments.options;
  const StackShape shape = stack_shape(maps.sides(), arguments.layout);
  const Levels levels = levels_of(given_levels, shape);
  const MapStack stack = stack_of(maps, shape);
  check_divisor(options.scale.divisor, maps.type(), maps.is_boolean());
  std::optional<HostArray> mask_array;
  if (!mask.is_none()) options.mask = mask_view(mask_array.emplace(mask, "mask"), shape.format);
  options.threads = threads_for(
      threads, static_cast<std::uint64_t>(maps.elements()) * static_cast<std::uint64_t>(levels.per_plane));
  FlatContours found;
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    found = find_in_stack(stack, levels.values, levels.per_plane, arguments.type, options);
  }
  if (arguments.flat) return flat_arrays(std::move(found), arguments.type);
  return nested_lists(found, arguments.type, shape, levels);
}

/// `place` has been decided: 'cpu' or 'cuda'.
py::object find_batch(py::object maps, const py::array_t<double>& levels, bool planar, bool float32,
                      bool flat, py::handle fully_connected, py::handle positive_orientation, py::object mask,
                      double divisor, std::uint32_t min_points, py::handle place, py::handle threads,
                      bool output_on_device, py::handle stream) {
  BatchArguments arguments{.layout = planar ? Layout::Planar : Layout::Interleaved,
                           .type = float32 ? PointType::Float32 : PointType::Float64,
                           .options = {.scale = {divisor}, .min_points = min_points},
                           .flat = flat,
                           .on_device = output_on_device,
                           .mask = {},
                           .stream = stream};
  if (is_high(fully_connected, "fully_connected")) arguments.options.fully_connected = Connectivity::High;
  if (is_high(positive_orientation, "positive_orientation"))
    arguments.options.positive_orientation = Orientation::High;
  if (!on_device_or_to_host(backend_of(place), maps, mask, "maps", stream))
    return find_on_cpu(maps, levels, mask, threads, arguments);
  threads_for(threads, 1);
  arguments.mask = mask;
  return find_batch_on_device(maps, levels, arguments);
}

}  // namespace

void bind_batch(py::module_& module) {
  module.def("find_contours_batch", &find_batch);
}

}  // namespace contorno::python
