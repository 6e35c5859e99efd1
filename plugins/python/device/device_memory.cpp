#include "plugins/python/device/device_memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/pointer.h"
#include "cuda/stream.h"

namespace contorno::python {
namespace {

/// Free blocks, waiting for the next call on their device and stream.
class BlockPool {
 public:
  static BlockPool& instance() {
    // Never destroyed: at the end of the process the driver may be gone before it.
    static auto* const pool = new BlockPool;
    return *pool;
  }

  Block take(std::size_t bytes, MemoryKind kind, const DevicePlace& place) {
    {
      const std::lock_guard lock(mutex_);
      auto best = free_.end();
      for (auto one = free_.begin(); one != free_.end(); ++one)
        if (one->block.kind() == kind && one->place.device == place.device &&
            one->place.stream == place.stream && one->block.size() >= bytes &&
            one->block.size() / 4 <= bytes + kSmall &&
            (best == free_.end() || one->block.size() < best->block.size()))
          best = one;
      if (best != free_.end()) {
        Block block = std::move(best->block);
        free_.erase(best);
        return block;
      }
    }
    return Block(std::max<std::size_t>(bytes, 1), kind);
  }

  void give(Block block, const DevicePlace& place) {
    std::vector<Entry> evicted;
    const std::lock_guard lock(mutex_);
    free_.push_back({std::move(block), place});
    if (free_.size() > kMost) {
      evicted.push_back(std::move(free_.front()));
      free_.erase(free_.begin());
    }
  }

 private:
  static constexpr std::size_t kMost = 24, kSmall = 1U << 16;
  struct Entry {
    Block block;
    DevicePlace place;
  };
  std::mutex mutex_;
  std::vector<Entry> free_;
};

}  // namespace

PooledBlock::PooledBlock(std::size_t bytes, MemoryKind kind, const DevicePlace& place)
    : block_(BlockPool::instance().take(bytes, kind, place)), place_(place) {}

PooledBlock::~PooledBlock() {
  BlockPool::instance().give(std::move(block_), place_);
}

void download(void* target, const void* source, std::size_t bytes, const DevicePlace& place) {
  // Through page-locked memory, which the device reaches at full speed.
  const PooledBlock staging(bytes, MemoryKind::Pinned, place);
  copy_async(staging.data(), source, bytes, place.stream);
  synchronize_stream(place.stream);
  std::memcpy(target, staging.data(), bytes);
}

DevicePlace own_place() {
  // A few streams a device, handed out in turn and never destroyed.
  constexpr unsigned kStreams = 4;
  static std::mutex mutex;
  static auto* const streams = new std::map<int, std::vector<Stream>>;
  static unsigned turn = 0;
  const int device = current_device();
  const std::lock_guard lock(mutex);
  std::vector<Stream>& own = (*streams)[device];
  if (own.size() < kStreams) {
    own.push_back(Stream::create());
    return {device, own.back().get()};
  }
  return {device, own[turn++ % kStreams].get()};
}

}  // namespace contorno::python
