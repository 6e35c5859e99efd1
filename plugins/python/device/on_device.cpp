#include "plugins/python/device/on_device.h"

#include <fmt/format.h>

#include "cuda/pointer.h"
#include "plugins/python/device/device_input.h"
#include "plugins/python/device/device_kernels.h"
#include "plugins/python/device/device_result.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

ContourEngineSpec spec_of(const ImageFormat& format, std::vector<double> levels, PointType type,
                          const MapsOptions& options) {
  ContourEngineSpec spec;
  spec.map = format;
  spec.divisor = options.scale.divisor;
  spec.levels = std::move(levels);
  spec.connectivity = options.fully_connected;
  spec.orientation = options.positive_orientation;
  spec.min_points = static_cast<unsigned>(options.min_points);
  spec.points =
      type == PointType::Float32 ? ContourEngineSpec::Points::Float32 : ContourEngineSpec::Points::Float64;
  return spec;
}

/// What the engine is given at a time: all frames as the planes of one image where their pitches allow it.
struct Division {
  ImageView first;
  int images = 1;  ///< engine runs for each level
  std::ptrdiff_t image_pitch = 0;
  bool frames_are_planes = false;
};

Division divide(const MapStack& stack) {
  constexpr std::int64_t kMostCells = 1 << 30;
  const ImageFormat& format = stack.first.format;
  Division whole{.first = stack.first, .images = stack.frames, .image_pitch = stack.frame_pitch};
  const std::int64_t samples =
      static_cast<std::int64_t>(format.width) * format.height * format.channels * stack.frames;
  const std::ptrdiff_t plane_pitch = format.channels > 1 ? stack.first.plane_pitch : stack.frame_pitch;
  if (stack.frames == 1 || format.layout != Layout::Planar || samples >= kMostCells ||
      stack.frame_pitch != plane_pitch * format.channels)
    return whole;
  whole.frames_are_planes = true;
  whole.images = 1;
  whole.first.plane_pitch = plane_pitch;
  whole.first.format.channels *= stack.frames;
  return whole;
}

/// A run for each image and level, in this order of nesting.
template <class Use>
void each_run(const Division& division, const MapStack& stack, const Levels& levels, PointType type,
              const MapsOptions& options, const MaskView& mask, const DevicePlace& place, const Use& use) {
  for (int image = 0; image < division.images; ++image)
    for (int level = 0; level < levels.per_plane; ++level) {
      std::vector<double> own;
      for (int plane = 0; plane < stack.first.format.channels; ++plane)
        own.push_back(levels.values[static_cast<std::size_t>(plane * levels.per_plane + level)]);
      ImageView view = division.first;
      view.data = static_cast<char*>(view.data) + image * division.image_pitch;
      use(find_on_device(spec_of(view.format, std::move(own), type, options), view, mask, place));
    }
}

FlatContours to_flat(const MapStack& stack, const Levels& levels, PointType type, const MapsOptions& options,
                     const MaskView& mask, const DevicePlace& place) {
  const Division division = divide(stack);
  const int planes = stack.first.format.channels;
  std::vector<FoundInMaps> results;
  each_run(division, stack, levels, type, options, mask, place,
           [&](const DeviceContours& run) { results.push_back(download(run)); });
  FlatContours flat =
      flatten(std::move(results), division.images, division.first.format.channels, levels.per_plane, type, 1);
  if (division.frames_are_planes)
    for (std::size_t i = 0; i < flat.count(); ++i) {
      flat.frame_ids.data()[i] = flat.class_ids[i] / planes;
      flat.class_ids.data()[i] %= planes;
    }
  return flat;
}

/// One run of the engine, whose order is final.
DeviceContours one_run(Division division, const MapStack& stack, const Levels& levels, PointType type,
                       const MapsOptions& options, const MaskView& mask, const DevicePlace& place) {
  const bool by_level = levels.per_plane > 1;
  // Several levels: the same plane again and again.
  if (by_level) {
    division.first.format.channels = levels.per_plane;
    division.first.format.layout = Layout::Planar;
    division.first.plane_pitch = 0;
  }
  DeviceContours found = find_on_device(spec_of(division.first.format, levels.values, type, options),
                                        division.first, mask, place);
  const DeviceScope scope(place.device);
  number_contours(found.class_begin, found.planes, stack.first.format.channels, by_level, found.contours,
                  {found.class_ids, found.frame_ids, found.level_ids}, place.stream);
  synchronize_stream(place.stream);
  return found;
}

DeviceContours to_device_arrays(const MapStack& stack, const Levels& levels, PointType type,
                                const MapsOptions& options, const MaskView& mask, const DevicePlace& place) {
  const Division division = divide(stack);
  if (division.images == 1 && (levels.per_plane == 1 || division.first.format.channels == 1))
    return one_run(division, stack, levels, type, options, mask, place);
  std::vector<DeviceContours> results;
  each_run(division, stack, levels, type, options, mask, place,
           [&](DeviceContours run) { results.push_back(std::move(run)); });
  return merge_on_device(results, stack.first.format.channels, levels.per_plane, place);
}

}  // namespace

bool is_on_device(py::handle object) {
  return !is_numpy_array(object) && DeviceArray::is_on_device(object);
}

py::object to_host(py::handle object, std::string_view name, py::handle stream) {
  if (!is_on_device(object)) return py::reinterpret_borrow<py::object>(object);
  return DeviceInput(object, name, stream).on_host();
}

FoundInMaps find_one_on_device(py::handle image, py::handle level, py::handle mask,
                               const MapsOptions& options,
                               void (*check)(const std::vector<std::int64_t>& sides)) {
  DeviceInput input(image, "image", py::none());
  const std::vector<std::int64_t> sides = input.sides();
  check(sides);
  std::optional<DeviceInput> mask_input;
  MaskView mask_view;
  if (!mask.is_none()) {
    mask_input.emplace(mask, "mask", py::none());
    if (mask_input->sides() != sides)
      throw py::value_error("Parameters \"array\" and \"mask\" must have same shape.");
    mask_view = mask_input->mask(input.place());
  }
  const StackShape shape = stack_shape(sides, Layout::Planar);
  const MapStack stack = input.maps(shape);
  std::optional<double> value;
  if (!level.is_none()) value = number(level);
  const py::gil_scoped_release released;
  if (!value) value = default_level_on_device(stack.first, input.place());
  return download(find_on_device(spec_of(stack.first.format, {*value}, PointType::Float64, options),
                                 stack.first, mask_view, input.place()));
}

py::object find_batch_on_device(py::handle maps, const py::array_t<double>& given_levels,
                                const BatchArguments& arguments) {
  DeviceInput input(maps, "maps", arguments.stream);
  const StackShape shape = stack_shape(input.sides(), arguments.layout);
  const Levels levels = levels_of(given_levels, shape);
  const MapStack stack = input.maps(shape);
  check_divisor(arguments.options.scale.divisor, stack.first.format.type, input.is_boolean());
  std::optional<DeviceInput> mask_input;
  MaskView mask;
  if (!arguments.mask.is_none()) {
    mask_input.emplace(arguments.mask, "mask", arguments.stream);
    if (mask_input->sides() != std::vector<std::int64_t>{shape.format.height, shape.format.width})
      throw py::value_error(fmt::format("mask must have the shape of a plane, ({}, {})", shape.format.height,
                                        shape.format.width));
    mask = mask_input->mask(input.place());
  }
  if (arguments.on_device) {
    DeviceContours found;
    {
      const py::gil_scoped_release released;
      found = to_device_arrays(stack, levels, arguments.type, arguments.options, mask, input.place());
    }
    return device_arrays(found);
  }
  FlatContours found;
  {
    const py::gil_scoped_release released;
    found = to_flat(stack, levels, arguments.type, arguments.options, mask, input.place());
  }
  if (arguments.flat) return flat_arrays(std::move(found), arguments.type);
  return nested_lists(found, arguments.type, shape, levels);
}

void bind_device(py::module_& module) {
  bind_device_result(module);
}

}  // namespace contorno::python
