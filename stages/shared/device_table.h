// Tables of a stage in device memory: copied there once, when the stage is planned, and only read after that.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/memory.h"
#include "cuda/stream.h"

namespace contorno {

/// Copies `table` to the device, waits until it is there, and returns the block that owns it. An empty table
/// becomes a block of one element. Throws Error(OutOfMemory).
template <class T>
Block device_table(const std::vector<T>& table) {
  const std::size_t bytes = std::max<std::size_t>(table.size(), 1) * sizeof(T);
  Block block(bytes, MemoryKind::Device);
  if (table.empty()) return block;
  Block staging(bytes, MemoryKind::Pinned);
  std::memcpy(staging.data(), table.data(), bytes);
  const Stream stream = Stream::create();
  copy_async(block.data(), staging.data(), bytes, stream.get());
  stream.synchronize();
  return block;
}

template <class T>
const T* table_at(const Block& block) {
  return reinterpret_cast<const T*>(block.data());
}

}  // namespace contorno
