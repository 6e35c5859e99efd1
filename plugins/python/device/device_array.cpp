#include "plugins/python/device/device_array.h"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/pointer.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

bool has(py::handle object, const char* name) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())), name) == 1 &&
         PyObject_HasAttrString(object.ptr(), name) == 1;
}

py::object helper(const char* name) {
  return py::module_::import("contorno._arrays").attr(name);
}

/// An integer of an interface's dictionary.
template <class T>
T integer(py::handle value, std::string_view name, const char* what) {
  if (PyLong_Check(value.ptr())) {
    try {
      return value.cast<T>();
    } catch (const py::cast_error&) {
      throw py::value_error(fmt::format("{} has a {} that is out of range", name, what));
    }
  }
  throw py::type_error(fmt::format("{} has a {} that is no integer", name, what));
}

}  // namespace

bool DeviceArray::is_on_device(py::handle object) {
  if (has(object, "__dlpack_device__")) {
    const auto place = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
    return place.first == dlpack::kCuda || place.first == dlpack::kCudaManaged;
  }
  return PyObject_HasAttrString(object.ptr(), "__cuda_array_interface__") == 1;
}

DeviceArray::DeviceArray(py::handle object, std::string_view name, py::handle stream) : name_(name) {
  try {
    const auto handle = helper("device_stream")(object, stream);
    if (!handle.is_none())
      stream_ = reinterpret_cast<void*>(integer<std::uintptr_t>(handle, "stream", "handle"));
    if (has(object, "__dlpack__")) {
      require_cuda();
      take_dlpack(object);
    } else {
      // What is wrong with the words of an interface can be said without a device.
      void* const theirs = take_interface(object, stream);
      require_cuda();
      if (theirs != stream_) synchronize_stream(theirs);
    }
    check_memory();
    const auto wanted = helper("stream_device")(stream);
    if (!wanted.is_none() && wanted.cast<int>() != device_)
      throw py::value_error(fmt::format("{} lies on device {}, and the stream belongs to device {}", name_,
                                        device_, wanted.cast<int>()));
  } catch (...) {
    if (tensor_ != nullptr) tensor_->deleter(tensor_);
    tensor_ = nullptr;
    throw;
  }
}

DeviceArray::~DeviceArray() {
  if (tensor_ != nullptr && tensor_->deleter != nullptr) tensor_->deleter(tensor_);
}

void DeviceArray::check_type(const std::string& words) const {
  if (sides_.size() > kMaxDimensions)
    throw py::value_error(
        fmt::format("{} has {} dimensions, allowed {} at most", name_, sides_.size(), kMaxDimensions));
  const bool known = kind_ == 'b'   ? bytes_ == 1
                     : kind_ == 'f' ? bytes_ == 2 || bytes_ == 4 || bytes_ == 8
                                    : (kind_ == 'i' || kind_ == 'u') &&
                                          (bytes_ == 1 || bytes_ == 2 || bytes_ == 4 || bytes_ == 8);
  if (!known)
    throw py::type_error(fmt::format(
        "{} has dtype {}, allowed on a device are bool, integers and floats of 16 to 64 bits", name_, words));
}

void DeviceArray::take_dlpack(py::handle object) {
  // DLPack has names for the two default streams, and none for a null handle.
  const auto consumer = stream_ == nullptr ? std::uintptr_t{1} : reinterpret_cast<std::uintptr_t>(stream_);
  py::object capsule;
  try {
    capsule = object.attr("__dlpack__")(py::arg("stream") = consumer);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_BufferError)) throw;
    throw py::value_error(fmt::format("{} cannot be exchanged: {}", name_, error.what()));
  }
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::kCapsule) == 0)
    throw py::type_error(fmt::format("{} has a __dlpack__ that returns no DLPack capsule", name_));
  tensor_ = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kCapsule));
  PyCapsule_SetName(capsule.ptr(), dlpack::kUsedCapsule);
  const dlpack::Tensor& tensor = tensor_->tensor;
  if (tensor.device.type != dlpack::kCuda && tensor.device.type != dlpack::kCudaManaged)
    throw py::value_error(
        fmt::format("{} says that it is on a CUDA device, and gives memory of another", name_));
  switch (tensor.type.code) {
    case dlpack::kInt:
      kind_ = 'i';
      break;
    case dlpack::kUInt:
      kind_ = 'u';
      break;
    case dlpack::kFloat:
      kind_ = 'f';
      break;
    case dlpack::kBool:
      kind_ = 'b';
      break;
    default:
      kind_ = '?';
  }
  bytes_ = tensor.type.lanes == 1 ? tensor.type.bits / 8 : 0;
  if (tensor.dimensions < 0 || tensor.dimensions > 64)
    throw py::value_error(fmt::format("{} has no shape", name_));
  sides_.assign(tensor.shape, tensor.shape + tensor.dimensions);
  check_type(fmt::format("of DLPack code {} with {} bits", tensor.type.code, tensor.type.bits));
  data_ = static_cast<char*>(tensor.data) + tensor.byte_offset;
  strides_.resize(sides_.size());
  std::int64_t packed = bytes_;
  for (std::size_t axis = sides_.size(); axis-- > 0; packed *= sides_[axis])
    strides_[axis] = tensor.strides != nullptr ? tensor.strides[axis] * bytes_ : packed;
}

/// Returns the stream that the array's work is on: `stream_`, or another.
void* DeviceArray::take_interface(py::handle object, py::handle stream) {
  const py::object given = object.attr("__cuda_array_interface__");
  if (!py::isinstance<py::dict>(given))
    throw py::type_error(fmt::format("{} has an interface that is no dict", name_));
  const auto interface = py::reinterpret_borrow<py::dict>(given);
  for (const char* key : {"shape", "typestr", "data", "version"})
    if (!interface.contains(key))
      throw py::value_error(fmt::format("{} has an interface without '{}'", name_, key));
  if (interface.contains("mask") && !interface["mask"].is_none())
    throw py::type_error(fmt::format("{} has a mask in its interface; pass it as mask", name_));
  const py::object shape = interface["shape"], type = interface["typestr"], data = interface["data"];
  if (!py::isinstance<py::tuple>(shape) || !py::isinstance<py::str>(type) ||
      !py::isinstance<py::tuple>(data) || py::len(data) != 2)
    throw py::type_error(
        fmt::format("{} has an interface whose shape, typestr or data is of a wrong type", name_));
  for (const py::handle side : shape) sides_.push_back(integer<std::int64_t>(side, name_, "shape"));
  const auto words = type.cast<std::string>();
  kind_ = words.size() >= 3 ? words[1] : '?';
  bytes_ = words.size() == 3 && words[2] >= '0' && words[2] <= '9' && (words[0] == '<' || words[0] == '|')
               ? words[2] - '0'
               : 0;
  check_type(words);
  data_ = reinterpret_cast<void*>(
      integer<std::uintptr_t>(py::reinterpret_borrow<py::tuple>(data)[0], name_, "data pointer"));
  take_strides(interface.contains("strides") ? py::object(interface["strides"]) : py::none());
  kept_ = py::reinterpret_borrow<py::object>(object);
  if (!interface.contains("stream") || interface["stream"].is_none()) return stream_;
  const auto theirs = integer<std::uintptr_t>(interface["stream"], name_, "stream");
  if (theirs == 0)
    throw py::value_error(fmt::format("{} has the stream 0 in its interface, which means nothing", name_));
  if (stream.is_none() && stream_ == nullptr) stream_ = reinterpret_cast<void*>(theirs);
  return reinterpret_cast<void*>(theirs);
}

void DeviceArray::take_strides(const py::object& strides) {
  if (!strides.is_none()) {
    if (!py::isinstance<py::tuple>(strides) || py::len(strides) != sides_.size())
      throw py::value_error(fmt::format("{} has strides that do not go with its shape", name_));
    for (const py::handle one : strides) strides_.push_back(integer<std::int64_t>(one, name_, "stride"));
    return;
  }
  strides_.resize(sides_.size());
  __int128 packed = bytes_;
  for (std::size_t axis = sides_.size(); axis-- > 0;) {
    strides_[axis] = static_cast<std::int64_t>(std::min<__int128>(packed, INT64_MAX));
    packed = std::min<__int128>(packed * std::max<std::int64_t>(sides_[axis], 1), INT64_MAX);
  }
}

/// All samples lie in memory that the driver has allocated on the device.
void DeviceArray::check_memory() {
  __int128 low = 0, high = bytes_;
  for (std::size_t axis = 0; axis < sides_.size(); ++axis) {
    if (sides_[axis] < 0) throw py::value_error(fmt::format("{} has a side of {}", name_, sides_[axis]));
    if (sides_[axis] == 0) return;
    const __int128 reach = static_cast<__int128>(sides_[axis] - 1) * strides_[axis];
    (reach < 0 ? low : high) += reach;
  }
  const auto address = static_cast<__int128>(reinterpret_cast<std::uintptr_t>(data_));
  constexpr __int128 kEnd = static_cast<__int128>(1) << 62;
  const PointerInfo info = pointer_info(data_);
  const bool there = address + low > 0 && high - low < kEnd && address + high < kEnd &&
                     (info.kind == PointerKind::Device || info.kind == PointerKind::Managed) &&
                     is_allocated(static_cast<char*>(data_) + static_cast<std::int64_t>(low),
                                  static_cast<std::size_t>(high - low));
  if (!there)
    throw py::value_error(
        fmt::format("{} says that it lies at {:#x} on a CUDA device, which is not memory of such a device "
                    "from its first sample to its last",
                    name_, reinterpret_cast<std::uintptr_t>(data_)));
  if (address % bytes_ != 0) throw py::value_error(fmt::format("{} is not aligned to its samples", name_));
  device_ = info.device;
}

std::optional<ElementType> DeviceArray::type() const {
  if (kind_ == 'b' || (kind_ == 'u' && bytes_ == 1)) return ElementType::U8;
  if (kind_ == 'u' && bytes_ == 2) return ElementType::U16;
  if (kind_ == 'f' && bytes_ == 2) return ElementType::F16;
  if (kind_ == 'f' && bytes_ == 4) return ElementType::F32;
  if (kind_ == 'f' && bytes_ == 8) return ElementType::F64;
  return std::nullopt;
}

}  // namespace contorno::python
