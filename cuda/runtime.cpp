// The substrate over the CUDA runtime, which is linked statically: the program starts without a driver.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/host_pages.h"
#include "base/memory.h"
#include "cuda/check.h"
#include "cuda/device.h"
#include "cuda/near_device.h"

namespace contorno {
namespace {

std::string mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB";
}

/// In the letters of /sys; empty where the runtime does not know.
std::string pci_bus_id(int device) {
  char text[32] = "";
  if (cudaDeviceGetPCIBusId(text, sizeof text, device) != cudaSuccess) return {};
  for (char& c : text)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// That of the device on which this thread works; nothing where it is not known.
std::vector<int> processors_beside() {
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess)
    for (const DeviceInfo& one : device_report().devices)
      if (one.index == device) return processors_near("/sys", one.pci_bus_id);
  return {};
}

DeviceReport ask_devices() {
  DeviceReport report{.built_in = true};
  int runtime = 0;
  int driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  explain_absence(runtime, driver, status != cudaSuccess ? cudaGetErrorString(status) : "", report);
  if (status != cudaSuccess || count == 0) return report;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    report.devices.push_back(
        {.index = index,
         .name = properties.name,
         .compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor),
         .total_bytes = properties.totalGlobalMem,
         .multiprocessors = properties.multiProcessorCount,
         .pci_bus_id = pci_bus_id(index)});
  }
  if (!report.devices.empty()) {
    report.available = true;
    report.reason = report.fix = "";
  }
  cudaGetLastError();
  return report;
}

}  // namespace

Block::Block(std::size_t bytes, MemoryKind kind) : kind_(kind) {
  if (bytes == 0) return;
  // Page-locked memory needs a device; where none answers, a pinned block is ordinary memory.
  if (kind == MemoryKind::Pinned && !device_report().available) kind_ = MemoryKind::Host;
  cudaError_t status = cudaSuccess;
  void* data = nullptr;
  switch (kind_) {
    case MemoryKind::Host:
      data = allocate_host(bytes);
      if (data == nullptr) status = cudaErrorMemoryAllocation;
      break;
    case MemoryKind::Pinned: {
      // The driver takes pages from the node of the thread that asks. Every device may use them.
      const NearProcessors near(processors_beside());
      status = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
      break;
    }
    case MemoryKind::Device:
      status = cudaMalloc(&data, bytes);
      break;
  }
  if (status != cudaSuccess) {
    cudaGetLastError();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    std::string message = "out of memory: " + mebibytes(bytes) + " were asked for";
    if (kind_ == MemoryKind::Device && cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess)
      message += " on the device, " + mebibytes(free_bytes) + " of " + mebibytes(total_bytes) +
                 " are free; use fewer slots, smaller frames or another device";
    throw Error(status == cudaErrorMemoryAllocation ? ExitCode::OutOfMemory : ExitCode::Unavailable,
                status == cudaErrorMemoryAllocation
                    ? message
                    : std::string("allocating memory: ") + cudaGetErrorString(status));
  }
  data_ = static_cast<std::byte*>(data);
  size_ = bytes;
}

void Block::release() noexcept {
  if (data_ != nullptr) {
    switch (kind_) {
      case MemoryKind::Host:
        std::free(data_);
        break;
      case MemoryKind::Pinned:
        cudaFreeHost(data_);
        break;
      case MemoryKind::Device:
        cudaFree(data_);
        break;
    }
  }
  data_ = nullptr;
  size_ = 0;
}

std::size_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  CONTORNO_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes;
}

const DeviceReport& device_report() {
  static const DeviceReport report = ask_devices();
  return report;
}

}  // namespace contorno
