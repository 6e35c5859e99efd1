#include "cuda/pointer.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/error.h"
#include "cuda/check.h"

namespace contorno {
namespace {

using AddressRange = CUresult (*)(CUdeviceptr*, std::size_t*, CUdeviceptr);

/// The driver's own function, looked up because the program must start without a driver.
AddressRange address_range() {
  static const AddressRange function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &found, 3020, cudaEnableDefault, &result);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuMemGetAddressRange", &found, cudaEnableDefault, &result);
#endif
    if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) found = nullptr;
    return reinterpret_cast<AddressRange>(found);
  }();
  return function;
}

}  // namespace

PointerInfo pointer_info(const void* address) noexcept {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  switch (attributes.type) {
    case cudaMemoryTypeUnregistered:
      return {};
    case cudaMemoryTypeHost:
      return {PointerKind::Host, attributes.device};
    case cudaMemoryTypeDevice:
      return {PointerKind::Device, attributes.device};
    case cudaMemoryTypeManaged:
      return {PointerKind::Managed, attributes.device};
  }
  return {};
}

bool is_allocated(const void* address, std::size_t bytes) noexcept {
  const AddressRange range = address_range();
  if (range == nullptr) return false;
  // One allocation, or several that were mapped side by side.
  auto at = reinterpret_cast<CUdeviceptr>(address);
  const CUdeviceptr end = at + bytes;
  if (end < at) return false;
  while (at < end) {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    if (range(&base, &size, at) != CUDA_SUCCESS || base + size <= at) return false;
    at = base + size;
  }
  return true;
}

DeviceScope::DeviceScope(int device) : previous_(current_device()) {
  if (device != previous_) set_current_device(device);
}

DeviceScope::~DeviceScope() {
  log_on_error(cudaSetDevice(previous_), "cudaSetDevice");
}

int current_device() {
  int device = 0;
  CONTORNO_CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

void set_current_device(int device) {
  const cudaError_t status = cudaSetDevice(device);
  if (status == cudaErrorInvalidDevice) {
    cudaGetLastError();
    throw Error(ExitCode::Unavailable, "there is no CUDA device " + std::to_string(device));
  }
  throw_on_error(status, "cudaSetDevice");
}

void synchronize_stream(void* stream) {
  CONTORNO_CUDA_CHECK(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

}  // namespace contorno
