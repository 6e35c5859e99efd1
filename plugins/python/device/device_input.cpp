#include "plugins/python/device/device_input.h"

#include <fmt/format.h>

#include "cuda/pointer.h"
#include "plugins/python/device/device_kernels.h"
#include "plugins/python/device/device_result.h"
#include "plugins/python/host/apply.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

/// Axes of an array in the order frames, planes, rows, columns; -1: not there.
struct Axes {
  int frame = -1, plane = -1, row = 0, column = 1;
};

Axes axes_of(const StackShape& shape) {
  const int last = shape.dimensions - 1;
  Axes axes{.frame = shape.dimensions == 4 ? 0 : -1};
  if (shape.format.layout == Layout::Planar) {
    axes.plane = shape.dimensions > 2 ? last - 2 : -1;
    axes.row = last - 1;
    axes.column = last;
  } else {
    axes.plane = last;
    axes.row = last - 2;
    axes.column = last - 1;
  }
  return axes;
}

std::int64_t stride_of(const DeviceArray& array, int axis) {
  return axis < 0 ? 0 : array.strides()[static_cast<std::size_t>(axis)];
}

}  // namespace

DeviceInput::DeviceInput(py::handle object, std::string_view name, py::handle stream)
    : name_(name), object_(py::reinterpret_borrow<py::object>(object)) {
  if (DeviceArray::is_on_device(object)) {
    device_.emplace(object, name, stream);
    place_ = {device_->device(), device_->stream()};
  } else {
    host_.emplace(object, name);
    place_ = place_for(stream);
  }
}

std::vector<std::int64_t> DeviceInput::sides() const {
  return device_ ? device_->sides() : host_->sides();
}

/// The engine takes any pitch of rows and planes, and neighbours without gaps.
bool DeviceInput::is_readable(const StackShape& shape) const {
  if (!device_->type()) return false;
  const Axes axes = axes_of(shape);
  for (const std::int64_t stride : device_->strides())
    if (stride < 0 || stride % device_->item_bytes() != 0) return false;
  const std::int64_t size = device_->item_bytes();
  if (shape.format.layout == Layout::Planar) return stride_of(*device_, axes.column) == size;
  return stride_of(*device_, axes.plane) == size &&
         stride_of(*device_, axes.column) == size * shape.format.channels;
}

MapStack DeviceInput::in_place(const StackShape& shape) const {
  const Axes axes = axes_of(shape);
  MapStack stack{.frames = shape.frames};
  stack.first = {device_->data(), shape.format, static_cast<std::ptrdiff_t>(stride_of(*device_, axes.row)),
                 0};
  stack.first.format.type = *device_->type();
  if (shape.format.layout == Layout::Planar)
    stack.first.plane_pitch = static_cast<std::ptrdiff_t>(stride_of(*device_, axes.plane));
  stack.frame_pitch = static_cast<std::ptrdiff_t>(stride_of(*device_, axes.frame));
  return stack;
}

/// In C order, with planes where `layout` says; types that contorno does not read as float64.
MapStack DeviceInput::gathered(const StackShape& shape, Layout layout) {
  const Axes axes = axes_of(shape);
  const bool planar = layout == Layout::Planar;
  converted_ = !device_->type();
  MapStack stack{.frames = shape.frames};
  stack.first.format = shape.format;
  stack.first.format.layout = layout;
  stack.first.format.type = device_->type().value_or(ElementType::F64);
  const ImageFormat& format = stack.first.format;
  const std::int64_t plane = stride_of(*device_, axes.plane), row = stride_of(*device_, axes.row),
                     column = stride_of(*device_, axes.column), frame = stride_of(*device_, axes.frame);
  StridedSamples from{.data = device_->data(),
                      .sides = {shape.frames, format.height, format.width, format.channels},
                      .strides = {frame, row, column, plane},
                      .kind = device_->kind(),
                      .item_bytes = device_->item_bytes()};
  if (planar) {
    from.sides = {shape.frames, format.channels, format.height, format.width};
    from.strides = {frame, plane, row, column};
  }
  stack.first = dense_view(nullptr, format);
  stack.frame_pitch = stack.first.row_pitch * format.height * format.planes();
  const DeviceScope scope(place_.device);
  block_ = std::make_shared<PooledBlock>(
      static_cast<std::size_t>(stack.frame_pitch) * static_cast<std::size_t>(shape.frames),
      MemoryKind::Device, place_);
  stack.first.data = block_->data();
  gather_samples(from, block_->data(), converted_ ? GatherTo::Float64 : GatherTo::Same, place_.stream);
  return stack;
}

MapStack DeviceInput::uploaded(const StackShape& shape, const DevicePlace& place) {
  const bool planar = shape.format.layout == Layout::Planar;
  host_->make_readable(planar ? 1 : 2);
  boolean_ = host_->is_boolean();
  converted_ = host_->was_converted();
  const int last = shape.dimensions - 1;
  MapStack stack{.frames = shape.frames};
  stack.first = {host_->data(), shape.format,
                 static_cast<std::ptrdiff_t>(host_->stride(planar ? last - 1 : last - 2)), 0};
  stack.first.format.type = host_->type();
  if (planar && shape.dimensions > 2)
    stack.first.plane_pitch = static_cast<std::ptrdiff_t>(host_->stride(last - 2));
  if (shape.dimensions == 4) stack.frame_pitch = static_cast<std::ptrdiff_t>(host_->stride(0));
  const py::gil_scoped_release released;
  return upload(stack, place, block_);
}

MapStack DeviceInput::maps(const StackShape& shape) {
  if (!device_) return uploaded(shape, place_);
  boolean_ = device_->kind() == 'b';
  return is_readable(shape) ? in_place(shape) : gathered(shape, Layout::Planar);
}

MaskView DeviceInput::mask(const DevicePlace& place) {
  const std::vector<std::int64_t> own = sides();
  StackShape shape;
  shape.format = {.width = static_cast<int>(own[1]),
                  .height = static_cast<int>(own[0]),
                  .channels = 1,
                  .layout = Layout::Planar};
  MapStack stack;
  if (device_) {
    stack = maps(shape);
    follow(place);
  } else {
    stack = uploaded(shape, place);
  }
  if (!boolean_) throw py::type_error("Parameter \"mask\" must be a binary array.");
  return {static_cast<const std::uint8_t*>(stack.first.data), stack.first.row_pitch};
}

/// What comes on the stream of `place` sees what is under way on this array's.
void DeviceInput::follow(const DevicePlace& place) const {
  if (device_->device() != place.device)
    throw py::value_error(fmt::format("{} is on device {}, and what it is for on device {}", name_,
                                      device_->device(), place.device));
  if (place.stream != place_.stream) synchronize_stream(place_.stream);
}

ImageView DeviceInput::image(Layout layout, const DevicePlace& place) {
  const std::vector<std::int64_t> own = sides();
  const ImageFormat format = image_format(own, std::string(name_), layout);
  StackShape shape;
  shape.dimensions = static_cast<int>(own.size());
  shape.format = format;
  if (shape.dimensions == 2) shape.format.layout = Layout::Planar;
  MapStack stack;
  if (!device_)
    stack = uploaded(shape, place);
  else if (device_->type())
    stack = is_readable(shape) ? in_place(shape) : gathered(shape, shape.format.layout);
  if (converted_ || stack.first.data == nullptr) refuse_samples(std::string(name_));
  if (device_) follow(place);
  stack.first.format.layout = format.layout;
  return stack.first;
}

py::array DeviceInput::on_host() {
  const DeviceArray& array = *device_;
  return python::on_host(
      samples_of(array.data(), array.sides(), array.strides(), array.kind(), array.item_bytes()),
      array.sides(), place_);
}

DevicePlace place_for(py::handle stream) {
  require_cuda();
  if (stream.is_none()) return own_place();
  const auto arrays = py::module_::import("contorno._arrays");
  const auto handle = arrays.attr("stream_handle")(stream).cast<std::uintptr_t>();
  const py::object device = arrays.attr("stream_device")(stream);
  return {device.is_none() ? current_device() : device.cast<int>(), reinterpret_cast<void*>(handle)};
}

}  // namespace contorno::python
