#include "plugins/python/device/device_result.h"

#include <pybind11/stl.h>

#include <numeric>

#include "cuda/pointer.h"
#include "cuda/stream.h"

namespace contorno::python {
namespace {

py::tuple tuple_of(std::span<const std::int64_t> values) {
  py::tuple tuple(values.size());
  for (std::size_t axis = 0; axis < values.size(); ++axis) tuple[axis] = values[axis];
  return tuple;
}

/// In bytes.
std::vector<std::int64_t> byte_strides(const ResultArray& array) {
  std::vector<std::int64_t> strides(array.sides.size());
  std::int64_t packed = 1;
  for (std::size_t axis = strides.size(); axis-- > 0; packed *= array.sides[axis])
    strides[axis] = (array.strides.empty() ? packed : array.strides[axis]) * array.item_bytes;
  return strides;
}

/// What the work behind an array was enqueued on has been waited for: no stream to wait for.
py::dict cuda_interface(const ResultArray& array) {
  py::dict interface;
  interface["shape"] = tuple_of(array.sides);
  interface["typestr"] = array.typestr();
  interface["data"] =
      py::make_tuple(array.elements() == 0 ? 0 : reinterpret_cast<std::uintptr_t>(array.data), false);
  interface["strides"] = array.strides.empty() ? py::object(py::none()) : tuple_of(byte_strides(array));
  interface["stream"] = py::none();
  interface["version"] = 3;
  return interface;
}

dlpack::DataType type_of(const ResultArray& array) {
  const dlpack::TypeCode code = array.kind == 'b'   ? dlpack::kBool
                                : array.kind == 'i' ? dlpack::kInt
                                : array.kind == 'u' ? dlpack::kUInt
                                                    : dlpack::kFloat;
  return {code, static_cast<std::uint8_t>(8 * array.item_bytes), 1};
}

struct Exported {
  dlpack::ManagedTensor managed{};
  ResultArray array;
};

py::capsule to_dlpack(const ResultArray& array) {
  auto* exported = new Exported{.array = array};
  ResultArray& kept = exported->array;
  exported->managed = {
      .tensor = {.data = array.data,
                 .device = {dlpack::kCuda, array.place.device},
                 .dimensions = static_cast<std::int32_t>(array.sides.size()),
                 .type = type_of(array),
                 .shape = kept.sides.data(),
                 .strides = kept.strides.empty() ? nullptr : kept.strides.data(),
                 .byte_offset = 0},
      .context = exported,
      .deleter = [](dlpack::ManagedTensor* tensor) { delete static_cast<Exported*>(tensor->context); }};
  // Nobody may have taken the tensor out when the capsule dies.
  return py::capsule(&exported->managed, dlpack::kCapsule, [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, dlpack::kCapsule) == 0) return;
    auto* tensor = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, dlpack::kCapsule));
    tensor->deleter(tensor);
  });
}

StridedSamples samples_in(const ResultArray& array) {
  return samples_of(array.data, array.sides, byte_strides(array), array.kind, array.item_bytes);
}

py::array to_numpy(const ResultArray& array) {
  return on_host(samples_in(array), array.sides, array.place);
}

/// Bytes as bool, labels as int32, with other sides of as many elements if they are given.
ResultArray cast(const ResultArray& array, const std::string& type, const std::vector<std::int64_t>& sides) {
  ResultArray made = converted(samples_in(array), array.sides,
                               type == "bool" ? GatherTo::Bool : GatherTo::Int32, array.place);
  if (!sides.empty()) made.sides = sides;
  return made;
}

std::string text_of(const ResultArray& array) {
  return "<contorno.DeviceArray " + py::repr(tuple_of(array.sides)).cast<std::string>() + " " +
         array.typestr() + " on device " + std::to_string(array.place.device) + ">";
}

}  // namespace

std::int64_t ResultArray::elements() const {
  return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
}

std::string ResultArray::typestr() const {
  return (item_bytes == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(item_bytes);
}

StridedSamples samples_of(const void* data, std::span<const std::int64_t> sides,
                          std::span<const std::int64_t> byte_strides, char kind, int item_bytes) {
  StridedSamples samples{.data = data, .sides = {1, 1, 1, 1}, .kind = kind, .item_bytes = item_bytes};
  const std::size_t first = samples.sides.size() - sides.size();
  for (std::size_t axis = 0; axis < sides.size(); ++axis) {
    samples.sides[first + axis] = sides[axis];
    samples.strides[first + axis] = byte_strides[axis];
  }
  return samples;
}

ResultArray converted(const StridedSamples& from, std::vector<std::int64_t> sides, GatherTo to,
                      const DevicePlace& place) {
  ResultArray array{
      .place = place, .sides = std::move(sides), .kind = from.kind, .item_bytes = from.item_bytes};
  switch (to) {
    case GatherTo::Same:
      break;
    case GatherTo::Float64:
      array.kind = 'f', array.item_bytes = 8;
      break;
    case GatherTo::Float32:
      array.kind = 'f', array.item_bytes = 4;
      break;
    case GatherTo::Int32:
      array.kind = 'i', array.item_bytes = 4;
      break;
    case GatherTo::Bool:
      array.kind = 'b', array.item_bytes = 1;
      break;
    case GatherTo::Bytes:
      array.kind = 'u', array.item_bytes = 1;
      break;
  }
  const py::gil_scoped_release released;
  const DeviceScope scope(place.device);
  array.owner = std::make_shared<PooledBlock>(array.bytes(), MemoryKind::Device, place);
  array.data = array.owner->data();
  if (array.elements() == 0) return array;
  gather_samples(from, array.data, to, place.stream);
  synchronize_stream(place.stream);
  return array;
}

py::array on_host(const StridedSamples& from, std::span<const std::int64_t> sides, const DevicePlace& place) {
  const py::dtype type(std::string(1, from.kind) + std::to_string(from.item_bytes));
  py::array host(type, std::vector<py::ssize_t>(sides.begin(), sides.end()));
  const auto bytes = static_cast<std::size_t>(host.nbytes());
  if (bytes == 0) return host;
  void* const target = host.mutable_data();
  const py::gil_scoped_release released;
  const DeviceScope scope(place.device);
  std::shared_ptr<PooledBlock> packed;
  const void* source = from.data;
  if (!is_packed(from)) {
    packed = std::make_shared<PooledBlock>(bytes, MemoryKind::Device, place);
    gather_samples(from, packed->data(), GatherTo::Same, place.stream);
    source = packed->data();
  }
  download(target, source, bytes, place);
  return host;
}

void bind_device_result(py::module_& module) {
  py::class_<ResultArray>(module, "DeviceArray",
                          "An array in the memory of a GPU. PyTorch, CuPy and whatever else reads "
                          "``__cuda_array_interface__`` or DLPack take\n"
                          "it without a copy (``torch.from_dlpack(array)``, ``cupy.asarray(array)``), and "
                          "contorno's functions take it again.\n"
                          "The memory lives as long as one of them; what computed it has ended.")
      .def_property_readonly(
          "shape", [](const ResultArray& array) { return tuple_of(array.sides); }, "Sides.")
      .def_property_readonly(
          "ndim", [](const ResultArray& array) { return array.sides.size(); }, "Number of axes.")
      .def_property_readonly("size", &ResultArray::elements, "Number of elements.")
      .def_property_readonly(
          "dtype", [](const ResultArray& array) { return py::dtype(array.typestr()); },
          "Type of the elements.")
      .def_property_readonly(
          "device", [](const ResultArray& array) { return array.place.device; }, "Number of the device.")
      .def_property_readonly("__cuda_array_interface__", &cuda_interface)
      .def_property_readonly(
          "_stream",
          [](const ResultArray& array) { return reinterpret_cast<std::uintptr_t>(array.place.stream); })
      .def("__len__", [](const ResultArray& array) { return array.sides.at(0); })
      .def("__dlpack_device__",
           [](const ResultArray& array) { return py::make_tuple(+dlpack::kCuda, array.place.device); })
      .def("__dlpack__", [](const ResultArray& array, const py::kwargs&) { return to_dlpack(array); })
      .def("get", &to_numpy, "The array on the host, as NumPy's.")
      .def("__array__",
           [](const ResultArray& array, const py::args&, const py::kwargs&) { return to_numpy(array); })
      .def("_cast", &cast, py::arg("type"), py::arg("sides") = std::vector<std::int64_t>())
      .def("__repr__", &text_of);
}

py::tuple device_arrays(const DeviceContours& contours) {
  const auto count = static_cast<std::int64_t>(contours.contours);
  const auto array = [&](void* data, std::vector<std::int64_t> sides, char kind, int item_bytes) {
    return ResultArray{.owner = contours.block,
                       .place = contours.place,
                       .data = data,
                       .sides = std::move(sides),
                       .strides = {},
                       .kind = kind,
                       .item_bytes = item_bytes};
  };
  // Offsets are below 2^31, and int32 is what every package knows.
  return py::make_tuple(array(contours.point_data, {static_cast<std::int64_t>(contours.points), 2}, 'f',
                              contours.type == PointType::Float32 ? 4 : 8),
                        array(contours.offsets, {count + 1}, 'i', 4), array(contours.closed, {count}, 'b', 1),
                        array(contours.class_ids, {count}, 'i', 4),
                        array(contours.frame_ids, {count}, 'i', 4),
                        array(contours.level_ids, {count}, 'i', 4));
}

}  // namespace contorno::python
