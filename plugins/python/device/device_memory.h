// Memory of a CUDA device (and page-locked memory) that is kept from call to call, so that calls of one shape
// allocate nothing. Any thread; the GIL is not needed.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda/memory.h"

namespace contorno::python {

/// Where work is done. All calls of one result use the same.
struct DevicePlace {
  int device = 0;
  void* stream = nullptr;
};

/// A block that goes back to be used again on its stream when nobody holds it.
class PooledBlock {
 public:
  PooledBlock(std::size_t bytes, MemoryKind kind, const DevicePlace& place);
  ~PooledBlock();
  PooledBlock(const PooledBlock&) = delete;
  PooledBlock& operator=(const PooledBlock&) = delete;
  std::byte* data() const { return block_.data(); }

 private:
  Block block_;
  DevicePlace place_;
};

/// Brings bytes to ordinary host memory, behind what is on the stream, and waits until they are there.
void download(void* target, const void* source, std::size_t bytes, const DevicePlace& place);

/// The current device and a stream of this package's own, for arrays that come from the host.
DevicePlace own_place();

}  // namespace contorno::python
