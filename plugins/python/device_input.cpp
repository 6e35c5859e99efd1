#include "plugins/python/device_input.h"

#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "plugins/python/device_kernels.h"
#include "plugins/python/process.h"

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
  require_cuda();
  if (DeviceArray::is_on_device(object)) {
    device_.emplace(object, name, stream);
    place_ = {device_->device(), device_->stream()};
  } else {
    host_.emplace(object, name);
    place_ = own_place();
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

/// In C order of frames, planes, rows, columns; types that contorno does not read as float64.
MapStack DeviceInput::gathered(const StackShape& shape) {
  const Axes axes = axes_of(shape);
  const StridedSamples from{
      .data = device_->data(),
      .sides = {shape.frames, shape.format.channels, shape.format.height, shape.format.width},
      .strides = {stride_of(*device_, axes.frame), stride_of(*device_, axes.plane),
                  stride_of(*device_, axes.row), stride_of(*device_, axes.column)},
      .kind = device_->kind(),
      .item_bytes = device_->item_bytes()};
  converted_ = !device_->type();
  MapStack stack{.frames = shape.frames};
  stack.first.format = shape.format;
  stack.first.format.layout = Layout::Planar;
  stack.first.format.type = device_->type().value_or(ElementType::F64);
  const std::size_t row =
      static_cast<std::size_t>(shape.format.width) * element_size(stack.first.format.type);
  stack.first.row_pitch = static_cast<std::ptrdiff_t>(row);
  stack.first.plane_pitch = stack.first.row_pitch * shape.format.height;
  stack.frame_pitch = stack.first.plane_pitch * shape.format.channels;
  const DeviceScope scope(place_.device);
  block_ = std::make_shared<PooledBlock>(
      static_cast<std::size_t>(stack.frame_pitch) * static_cast<std::size_t>(shape.frames),
      MemoryKind::Device, place_);
  stack.first.data = block_->data();
  gather_samples(from, block_->data(), converted_, place_.stream);
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
  return is_readable(shape) ? in_place(shape) : gathered(shape);
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
    if (device_->device() != place.device)
      throw py::value_error(std::string(name_) + " is on another device than what it is for");
    stack = maps(shape);
    if (place.stream != place_.stream) synchronize_stream(place_.stream);
  } else {
    stack = uploaded(shape, place);
  }
  if (!boolean_) throw py::type_error("Parameter \"mask\" must be a binary array.");
  return {static_cast<const std::uint8_t*>(stack.first.data), stack.first.row_pitch};
}

py::array DeviceInput::on_host() {
  const std::vector<std::int64_t> own = sides();
  // Any shape of up to four axes, as frames of planes.
  StackShape shape;
  std::int64_t full[4] = {1, 1, 1, 1};
  for (std::size_t axis = 0; axis < own.size(); ++axis) full[4 - own.size() + axis] = own[axis];
  const auto strides = device_->strides();
  StridedSamples from{.data = device_->data(), .kind = device_->kind(), .item_bytes = device_->item_bytes()};
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    from.sides[axis] = full[axis];
    from.strides[axis] = axis + own.size() >= 4 ? strides[axis + own.size() - 4] : 0;
    count *= static_cast<std::size_t>(full[axis]);
  }
  const char kind = device_->kind();
  const std::string type = kind == 'b' ? "?" : std::string(1, kind) + std::to_string(device_->item_bytes());
  py::array array(py::dtype(type), std::vector<py::ssize_t>(own.begin(), own.end()));
  if (count == 0) return array;
  const std::size_t bytes = count * static_cast<std::size_t>(device_->item_bytes());
  void* const target = array.mutable_data();
  const py::gil_scoped_release released;
  const DeviceScope scope(place_.device);
  const PooledBlock block(bytes, MemoryKind::Device, place_);
  gather_samples(from, block.data(), false, place_.stream);
  copy_async(target, block.data(), bytes, place_.stream);
  synchronize_stream(place_.stream);
  return array;
}

}  // namespace contorno::python
