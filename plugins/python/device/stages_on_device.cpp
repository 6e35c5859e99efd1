// The image stages on arrays in device memory: read in place on the caller's stream, results in one block
// each.
#include <fmt/format.h>

#include <deque>
#include <optional>

#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "pipeline/graph/direct.h"
#include "pipeline/value/levels.h"
#include "plugins/python/device/device_input.h"
#include "plugins/python/device/device_result.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/host/apply.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/idle.h"
#include "stages/diamond_square/cuda.h"
#include "stages/mipmap/cuda.h"

namespace contorno::python {
namespace {

/// The images of one call, on one device and in the order of one stream.
class DeviceImages {
 public:
  DeviceImages(const py::list& objects, const StageType& type, Layout layout, py::handle stream) {
    for (std::size_t port = 0; port < objects.size(); ++port) {
      const std::string& name = names_.emplace_back(port_name(type, port));
      inputs_.emplace_back(objects[port], name, stream);
    }
    const auto first = std::find_if(inputs_.begin(), inputs_.end(),
                                    [](const DeviceInput& input) { return input.is_on_device(); });
    place_ = first != inputs_.end() ? first->place() : place_for(stream);
    for (DeviceInput& input : inputs_) {
      views_.push_back(input.image(layout, place_));
      values_.emplace_back(views_.back());
      formats_.emplace_back(views_.back().format);
    }
  }

  const DevicePlace& place() const { return place_; }
  const std::vector<ImageView>& views() const { return views_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<Format>& formats() const { return formats_; }
  const DeviceInput& input(std::size_t port) const { return inputs_[port]; }
  int dimensions() const { return inputs_.empty() ? 3 : static_cast<int>(inputs_[0].sides().size()); }
  int channels() const { return views_.empty() ? 0 : views_[0].format.channels; }

 private:
  std::deque<std::string> names_;  // which the inputs refer to
  std::deque<DeviceInput> inputs_;
  DevicePlace place_;
  std::vector<ImageView> views_;
  std::vector<Value> values_;
  std::vector<Format> formats_;
};

/// An image in a block of its own.
struct MadeImage {
  std::shared_ptr<PooledBlock> block;
  ImageView view;

  MadeImage(const ImageFormat& format, const DevicePlace& place) : view(dense_view(nullptr, format)) {
    const std::size_t bytes = format.row_bytes() * static_cast<std::size_t>(format.height * format.planes());
    block = std::make_shared<PooledBlock>(bytes, MemoryKind::Device, place);
    view.data = block->data();
  }
};

/// The array of an image that `block` keeps; a copy on the host unless it is to stay.
py::object array_over(const ImageView& view, int dimensions, std::shared_ptr<PooledBlock> block,
                      const DevicePlace& place, bool stay) {
  const Geometry geometry = geometry_of(view, dimensions);
  const py::dtype type = dtype_of(view.format.type);
  const int size = static_cast<int>(type.itemsize());
  const StridedSamples samples = samples_of(view.data, geometry.shape, geometry.strides, type.kind(), size);
  if (!stay) return on_host(samples, geometry.shape, place);
  ResultArray array{.owner = std::move(block),
                    .place = place,
                    .data = view.data,
                    .sides = geometry.shape,
                    .strides = {},
                    .kind = samples.kind,
                    .item_bytes = size};
  if (!is_packed(samples))
    for (const std::int64_t stride : geometry.strides) array.strides.push_back(stride / size);
  return py::cast(std::move(array));
}

}  // namespace

py::list apply_on_device(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                         const OutputPlace& output) {
  const DeviceImages given(images, type, layout, output.stream);
  const DevicePlace place = given.place();
  const std::string key = fmt::format("{}\n{}", key_of(type, set), place.device);
  std::vector<MadeImage> made;
  {
    const py::gil_scoped_release released;
    const DeviceScope scope(place.device);
    // What throws in here leaves the stage behind: its memory may be in use.
    std::unique_ptr<DirectStage> stage = Idle<DirectStage>::instance().take(key);
    if (!stage) stage = std::make_unique<DirectStage>(type, set, Backend::Cuda, 1);
    stage->plan(given.formats(), place.stream);
    std::vector<Value> views;
    for (const Format& format : stage->outputs())
      views.emplace_back(made.emplace_back(std::get<ImageFormat>(format), place).view);
    stage->enqueue(given.values(), views, place.stream);
    synchronize_stream(place.stream);
    Idle<DirectStage>::instance().give(key, std::move(stage));
  }
  py::list outputs;
  for (const MadeImage& image : made) {
    const ImageFormat& format = image.view.format;
    if (!holds_levels(format)) {
      const int dimensions = dimensions_of(format, given.dimensions(), given.channels());
      outputs.append(array_over(image.view, dimensions, image.block, place, output.stay));
      continue;
    }
    py::list levels;
    for (const LevelBox& box : level_boxes(format.atlas))
      levels.append(
          array_over(level_view(image.view, box), given.dimensions(), image.block, place, output.stay));
    outputs.append(levels);
  }
  return outputs;
}

namespace {

struct PlannedMipmaps {
  MipmapChain chain;
  MipmapChainCuda cuda;
  Block scratch;

  PlannedMipmaps(const ImageFormat& image, const MipmapOptions& options)
      : chain(image, options), cuda(chain), scratch(cuda.scratch_bytes(), MemoryKind::Device) {}
};

}  // namespace

py::list mipmaps_on_device(py::handle image, const ParamSet& set, Layout layout, const OutputPlace& output) {
  py::list images;
  images.append(image);
  const DeviceImages given(images, mipmap_stage(), layout, output.stream);
  const DevicePlace place = given.place();
  const ImageView& base = given.views()[0];
  const std::string key =
      fmt::format("{}\n{} {}", key_of(mipmap_stage(), set), place.device, describe(base.format));
  std::shared_ptr<PooledBlock> block;
  std::vector<ImageView> levels;
  {
    const py::gil_scoped_release released;
    const DeviceScope scope(place.device);
    std::unique_ptr<PlannedMipmaps> planned = Idle<PlannedMipmaps>::instance().take(key);
    if (!planned) planned = std::make_unique<PlannedMipmaps>(base.format, set.as<MipmapParams>());
    block = std::make_shared<PooledBlock>(planned->chain.bytes(), MemoryKind::Device, place);
    for (int level = 1; level < planned->chain.levels(); ++level)
      levels.push_back(planned->chain.level_in(block->data(), level));
    planned->cuda.build(base, levels, planned->scratch.data(), place.stream);
    synchronize_stream(place.stream);
    Idle<PlannedMipmaps>::instance().give(key, std::move(planned));
  }
  py::list arrays;
  const DeviceInput& input = given.input(0);
  if (input.is_on_device() == output.stay)
    arrays.append(image);
  else
    arrays.append(array_over(base, given.dimensions(), input.block(), place, output.stay));
  for (const ImageView& level : levels)
    arrays.append(array_over(level, given.dimensions(), block, place, output.stay));
  return arrays;
}

py::object diamond_square_on_device(const DiamondSquareParams& params, const ImageFormat& format,
                                    const OutputPlace& output) {
  const DevicePlace place = place_for(output.stream);
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", place.device, describe(format), params.exponent,
                  static_cast<int>(params.domain), static_cast<int>(params.range), params.roughness,
                  params.amplitude, fmt::join(params.corners, ","), params.row, params.col);
  std::optional<MadeImage> made;
  {
    const py::gil_scoped_release released;
    const DeviceScope scope(place.device);
    std::unique_ptr<DiamondSquareOnDevice> field = Idle<DiamondSquareOnDevice>::instance().take(key);
    if (!field) field = std::make_unique<DiamondSquareOnDevice>(params, format);
    made.emplace(format, place);
    field->generate(params.seed, made->view, place.stream);
    synchronize_stream(place.stream);
    Idle<DiamondSquareOnDevice>::instance().give(key, std::move(field));
  }
  return array_over(made->view, format.channels == 1 ? 2 : 3, made->block, place, output.stay);
}

py::object booleans_as_bytes(py::handle object, py::handle stream) {
  const DeviceArray array(object, "image", stream);
  if (array.kind() != 'b') return py::none();
  return py::cast(
      converted(samples_of(array.data(), array.sides(), array.strides(), array.kind(), array.item_bytes()),
                array.sides(), GatherTo::Bytes, {array.device(), array.stream()}));
}

DevicePlace place_of(py::handle object, const std::string& name, py::handle stream) {
  return DeviceInput(object, name, stream).place();
}

NewDeviceArray new_device_array(const py::dtype& type, std::vector<std::int64_t> sides,
                                const DevicePlace& place) {
  ResultArray result{.place = place,
                     .sides = std::move(sides),
                     .strides = {},
                     .kind = type.kind(),
                     .item_bytes = static_cast<int>(type.itemsize())};
  {
    const py::gil_scoped_release released;
    const DeviceScope scope(place.device);
    result.owner = std::make_shared<PooledBlock>(result.bytes(), MemoryKind::Device, place);
  }
  void* const data = result.data = result.owner->data();
  return {py::cast(std::move(result)), data};
}

py::object to_device(const py::array& given, const DevicePlace& place) {
  const py::array array = py::array::ensure(given, py::array::c_style);
  if (!array) throw py::error_already_set();
  NewDeviceArray result =
      new_device_array(array.dtype(), {array.shape(), array.shape() + array.ndim()}, place);
  const void* const from = array.data();
  const auto bytes = static_cast<std::size_t>(array.nbytes());
  const py::gil_scoped_release released;
  const DeviceScope scope(place.device);
  copy_async(result.data, from, bytes, place.stream);
  synchronize_stream(place.stream);
  return std::move(result.array);
}

}  // namespace contorno::python
