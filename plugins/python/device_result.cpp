#include "plugins/python/device_result.h"

#include <numeric>
#include <vector>

#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "plugins/python/dlpack.h"

namespace contorno::python {
namespace {

/// An array in C order in device memory, which it keeps.
struct ResultArray {
  std::shared_ptr<PooledBlock> owner;
  DevicePlace place;
  void* data = nullptr;
  std::vector<std::int64_t> sides;
  dlpack::DataType type{};
  std::string typestr;

  std::int64_t elements() const {
    return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * type.bits / 8; }
  py::tuple shape() const {
    py::tuple shape(sides.size());
    for (std::size_t axis = 0; axis < sides.size(); ++axis) shape[axis] = sides[axis];
    return shape;
  }
};

/// What the work behind an array was enqueued on has been waited for: no stream to wait for.
py::dict cuda_interface(const ResultArray& array) {
  py::dict interface;
  interface["shape"] = array.shape();
  interface["typestr"] = array.typestr;
  interface["data"] =
      py::make_tuple(array.elements() == 0 ? 0 : reinterpret_cast<std::uintptr_t>(array.data), false);
  interface["strides"] = py::none();
  interface["stream"] = py::none();
  interface["version"] = 3;
  return interface;
}

struct Exported {
  dlpack::ManagedTensor managed{};
  ResultArray array;
};

py::capsule to_dlpack(const ResultArray& array) {
  auto* exported = new Exported{.array = array};
  exported->managed = {
      .tensor = {.data = array.data,
                 .device = {dlpack::kCuda, array.place.device},
                 .dimensions = static_cast<std::int32_t>(array.sides.size()),
                 .type = array.type,
                 .shape = exported->array.sides.data(),
                 .strides = nullptr,
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

py::array to_numpy(const ResultArray& array) {
  py::array host(py::dtype(array.typestr), std::vector<py::ssize_t>(array.sides.begin(), array.sides.end()));
  if (array.elements() == 0) return host;
  void* const target = host.mutable_data();
  const py::gil_scoped_release released;
  const DeviceScope scope(array.place.device);
  copy_async(target, array.data, array.bytes(), array.place.stream);
  synchronize_stream(array.place.stream);
  return host;
}

}  // namespace

void bind_device_result(py::module_& module) {
  py::class_<ResultArray>(
      module, "DeviceArray",
      "An array in device memory, for any package that reads __cuda_array_interface__ or DLPack.")
      .def_property_readonly("shape", &ResultArray::shape, "Sides.")
      .def_property_readonly(
          "dtype", [](const ResultArray& array) { return py::dtype(array.typestr); }, "Type of the elements.")
      .def_property_readonly(
          "device", [](const ResultArray& array) { return array.place.device; }, "Number of the device.")
      .def_property_readonly("__cuda_array_interface__", &cuda_interface)
      .def("__len__", [](const ResultArray& array) { return array.sides[0]; })
      .def("__dlpack_device__",
           [](const ResultArray& array) { return py::make_tuple(+dlpack::kCuda, array.place.device); })
      .def("__dlpack__", [](const ResultArray& array, const py::kwargs&) { return to_dlpack(array); })
      .def("get", &to_numpy, "The array on the host, as NumPy's.")
      .def("__array__",
           [](const ResultArray& array, const py::args&, const py::kwargs&) { return to_numpy(array); })
      .def("__repr__", [](const ResultArray& array) {
        return "<contorno.DeviceArray " + py::repr(array.shape()).cast<std::string>() + " " + array.typestr +
               " on device " + std::to_string(array.place.device) + ">";
      });
}

py::tuple device_arrays(const DeviceContours& contours) {
  const auto count = static_cast<std::int64_t>(contours.contours);
  const auto array = [&](void* data, std::vector<std::int64_t> sides, dlpack::TypeCode code, int bits,
                         const char* typestr) {
    return ResultArray{
        contours.block, contours.place, data, std::move(sides), {code, static_cast<std::uint8_t>(bits), 1},
        typestr};
  };
  const bool small = contours.type == PointType::Float32;
  // Offsets are below 2^31 (the engine takes no more segments), and int32 is what every package knows.
  return py::make_tuple(array(contours.point_data, {static_cast<std::int64_t>(contours.points), 2},
                              dlpack::kFloat, small ? 32 : 64, small ? "<f4" : "<f8"),
                        array(contours.offsets, {count + 1}, dlpack::kInt, 32, "<i4"),
                        array(contours.closed, {count}, dlpack::kBool, 8, "|b1"),
                        array(contours.class_ids, {count}, dlpack::kInt, 32, "<i4"),
                        array(contours.frame_ids, {count}, dlpack::kInt, 32, "<i4"),
                        array(contours.level_ids, {count}, dlpack::kInt, 32, "<i4"));
}

}  // namespace contorno::python
