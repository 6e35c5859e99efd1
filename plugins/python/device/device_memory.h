// Memory of a CUDA device (and page-locked memory) that is kept from call to call, so that calls of one shape
// allocate nothing. Any thread; the GIL is not needed.
#pragma once

#include <cstddef>
#include <memory>

#include "base/memory.h"

namespace contorno::python {

/// A device and a stream of it, on which the work on one result is enqueued.
struct DevicePlace {
  int device = 0;
  void* stream = nullptr;
};

/// A block of memory that its destructor gives back, for later blocks of the same kind on the same stream.
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

/// Copies bytes from the device to ordinary host memory after the work that is on the stream, and waits until
/// they are there.
void download(void* target, const void* source, std::size_t bytes, const DevicePlace& place);

/// The current device and a stream that this package keeps, for arrays that come from the host. Calls get a
/// few streams in turn.
DevicePlace own_place();

}  // namespace contorno::python
