// The substrate of a build without CUDA: the same symbols, host memory only.
#include <cstdlib>
#include <new>

#include "cuda/device.h"
#include "cuda/error.h"
#include "cuda/memory.h"

namespace contorno {

Block::Block(std::size_t bytes, MemoryKind kind) : kind_(kind) {
  if (kind == MemoryKind::Device)
    throw Error(ExitCode::Unavailable, "device memory was asked for, but this build has no CUDA backend");
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, align_up(bytes)));
  if (data_ == nullptr)
    throw Error(ExitCode::OutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes were asked for");
  size_ = bytes;
}

void Block::release() noexcept {
  std::free(data_);
  data_ = nullptr;
  size_ = 0;
}

const DeviceReport& device_report() {
  static const DeviceReport report{
      .reason = "this build of contorno has no CUDA backend",
      .fix = "install the CUDA Toolkit (nvcc on PATH) and build again with the preset 'release'",
  };
  return report;
}

}  // namespace contorno
