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

/// `map` may have the planes of several frames; all frames have the same levels.
ContourEngineSpec spec_of(const ImageFormat& map, const Levels& levels, PointType type,
                          const MapsOptions& options) {
  ContourEngineSpec spec;
  spec.map = map;
  spec.divisor = options.scale.divisor;
  spec.levels = levels.values;
  if (levels.per_plane > 1) {
    const auto planes = static_cast<std::size_t>(map.channels);
    spec.channel_levels.assign(planes, levels.per_plane);
    spec.levels.reserve(planes * static_cast<std::size_t>(levels.per_plane));
    while (spec.levels.size() < spec.levels.capacity())
      spec.levels.insert(spec.levels.end(), levels.values.begin(), levels.values.end());
  }
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
  int images = 1;  ///< runs of the engine
  std::ptrdiff_t image_pitch = 0;
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
  whole.images = 1;
  whole.first.plane_pitch = plane_pitch;
  whole.first.format.channels *= stack.frames;
  return whole;
}

/// A run for each image, of all levels.
template <class Use>
void each_run(const MapStack& stack, const Levels& levels, PointType type, const MapsOptions& options,
              const MaskView& mask, const DevicePlace& place, const Use& use) {
  const Division division = divide(stack);
  for (int image = 0; image < division.images; ++image) {
    ImageView view = division.first;
    view.data = static_cast<char*>(view.data) + image * division.image_pitch;
    use(find_on_device(spec_of(view.format, levels, type, options), view, mask, place));
  }
}

FlatContours to_flat(const MapStack& stack, const Levels& levels, PointType type, const MapsOptions& options,
                     const MaskView& mask, const DevicePlace& place) {
  std::vector<FoundInMaps> results;
  each_run(stack, levels, type, options, mask, place,
           [&](const DeviceContours& run) { results.push_back(download(run)); });
  return flatten(std::move(results), stack.frames, stack.first.format.channels, levels.per_plane, type, 1);
}

DeviceContours to_device_arrays(const MapStack& stack, const Levels& levels, PointType type,
                                const MapsOptions& options, const MaskView& mask, const DevicePlace& place) {
  const PlaneAxes axes{.planes = stack.first.format.channels, .levels = levels.per_plane};
  std::vector<DeviceContours> results;
  each_run(stack, levels, type, options, mask, place,
           [&](DeviceContours run) { results.push_back(std::move(run)); });
  if (results.size() > 1) return merge_on_device(results, axes, place);
  DeviceContours found = std::move(results.front());
  const DeviceScope scope(place.device);
  number_contours(found.class_begin, found.planes, axes, found.contours,
                  {found.class_ids, found.frame_ids, found.level_ids}, place.stream);
  synchronize_stream(place.stream);
  return found;
}

}  // namespace

bool is_on_device(py::handle object) {
  return !is_numpy_array(object) && DeviceArray::is_on_device(object);
}

py::object to_host(py::handle object, std::string_view name, py::handle stream) {
  if (!is_on_device(object)) return py::reinterpret_borrow<py::object>(object);
  return DeviceInput(object, name, stream).on_host();
}

py::object maps_in_place(py::handle maps, bool planar) {
  auto input = std::make_unique<DeviceInput>(maps, "maps", py::none());
  if (!input->has_readable_type()) return py::none();
  const ImageView view = input->image(planar ? Layout::Planar : Layout::Interleaved, input->place());
  const ImageFormat& format = view.format;
  const auto address = [](const void* of) { return reinterpret_cast<std::uintptr_t>(of); };
  void* const stream = input->place().stream;
  const py::capsule kept(input.release(), [](void* one) { delete static_cast<DeviceInput*>(one); });
  return py::make_tuple(address(view.data), format.width, format.height, format.channels,
                        static_cast<int>(format.type), format.layout == Layout::Planar, view.row_pitch,
                        view.plane_pitch, address(stream), kept);
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
  return download(
      find_on_device(spec_of(stack.first.format, {.values = {*value}}, PointType::Float64, options),
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
