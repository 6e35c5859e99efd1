#include "plugins/python/device/find_on_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "plugins/python/device/device_kernels.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

/// An engine with its workspace. Used by one call at a time, which leaves the stream idle behind it.
struct Worker {
  int device = 0;
  CudaContourEngine engine;
  Block workspace, counts;
  bool prepared = false;
  ImageFormat seen_format;
  std::uint64_t points_seen = 0, contours_seen = 0;
};

class WorkerPool {
 public:
  static WorkerPool& instance() {
    static auto* const pool = new WorkerPool;
    return *pool;
  }

  /// One that was planned for this, else for this format, else a new one.
  std::unique_ptr<Worker> take(const ContourEngineSpec& spec, int device) {
    const std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto one = idle_.begin(); one != idle_.end(); ++one) {
      if ((*one)->device != device || !((*one)->seen_format == spec.map) ||
          (*one)->engine.spec().points != spec.points)
        continue;
      best = one;
      if ((*one)->engine.spec().levels == spec.levels) break;
    }
    if (best != idle_.end()) {
      std::unique_ptr<Worker> worker = std::move(*best);
      idle_.erase(best);
      return worker;
    }
    auto worker = std::make_unique<Worker>();
    worker->device = device;
    worker->seen_format = spec.map;
    worker->counts = Block(sizeof(ContourCounts), MemoryKind::Pinned);
    return worker;
  }

  void give(std::unique_ptr<Worker> worker) {
    std::unique_ptr<Worker> evicted;
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
    if (idle_.size() > kMost) {
      evicted = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
  }

 private:
  static constexpr std::size_t kMost = 8;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

/// One run with the capacities of `spec`, to the end.
DeviceContours run(Worker& worker, const ContourEngineSpec& spec, const ImageView& map, const MaskView& mask,
                   const DevicePlace& place) {
  if (!worker.prepared || !(worker.engine.spec() == spec)) {
    worker.prepared = false;
    const std::size_t bytes = worker.engine.plan(spec);
    if (worker.workspace.size() < bytes)
      worker.workspace = Block(), worker.workspace = Block(bytes, MemoryKind::Device);
    worker.engine.prepare(worker.workspace.data(), place.stream);
    worker.prepared = true;
  }
  const PointType type =
      spec.points == ContourEngineSpec::Points::Float32 ? PointType::Float32 : PointType::Float64;
  DeviceContours found = allocate_contours(static_cast<int>(spec.planes()), spec.point_capacity,
                                           spec.contour_capacity, type, place);
  if (type == PointType::Float32)
    worker.engine.enqueue(map, mask, worker.workspace.data(),
                          ContoursView{.counts = found.counts,
                                       .points = reinterpret_cast<Point*>(found.point_data),
                                       .offsets = found.offsets,
                                       .closed = found.closed,
                                       .class_begin = found.class_begin},
                          place.stream);
  else
    worker.engine.enqueue(map, mask, worker.workspace.data(),
                          ContoursView64{found.counts, reinterpret_cast<Point64*>(found.point_data),
                                         found.offsets, found.closed, found.class_begin},
                          place.stream);
  copy_async(worker.counts.data(), found.counts, sizeof(ContourCounts), place.stream);
  synchronize_stream(place.stream);
  ContourCounts counted;
  std::memcpy(&counted, worker.counts.data(), sizeof(counted));
  found.points = counted.points;
  found.contours = counted.contours;
  return found;
}

}  // namespace

DeviceContours allocate_contours(int planes, std::uint64_t points, std::uint64_t contours, PointType type,
                                 const DevicePlace& place) {
  DeviceContours made{.place = place, .planes = planes, .type = type};
  // Once to add up, once more, behind the allocation, for real.
  for (std::byte* base = nullptr;; base = made.block->data()) {
    std::size_t at = 0;
    const auto take = [&]<class T>(T*& pointer, std::uint64_t count) {
      pointer = base == nullptr ? nullptr : reinterpret_cast<T*>(base + at);
      at += align_up(std::max<std::uint64_t>(count, 1) * sizeof(T));
    };
    take(made.counts, 1);
    take(made.class_begin, static_cast<std::uint64_t>(planes) + 1);
    take(made.offsets, contours + 1);
    take(made.closed, contours);
    take(made.class_ids, contours);
    take(made.frame_ids, contours);
    take(made.level_ids, contours);
    take(made.point_data, points * point_bytes(type));
    if (base != nullptr) return made;
    made.block = std::make_shared<PooledBlock>(at, MemoryKind::Device, place);
  }
}

DeviceContours find_on_device(ContourEngineSpec spec, const ImageView& map, const MaskView& mask,
                              const DevicePlace& place) {
  const DeviceScope scope(place.device);
  std::unique_ptr<Worker> worker = WorkerPool::instance().take(spec, place.device);
  // A point at every fourth sample and a contour at every 64th; more is asked for when it was too few.
  const std::uint64_t samples = static_cast<std::uint64_t>(spec.map.width) *
                                static_cast<std::uint64_t>(spec.map.height) *
                                static_cast<std::uint64_t>(spec.map.channels);
  spec.point_capacity = std::max(samples / 4 + 1024, worker->points_seen);
  spec.contour_capacity = std::max(samples / 64 + 256, worker->contours_seen);
  // What throws in here leaves the worker behind: its workspace may be in use.
  DeviceContours found = run(*worker, spec, map, mask, place);
  while (found.points > spec.point_capacity || found.contours > spec.contour_capacity) {
    if (found.points > std::numeric_limits<std::uint32_t>::max())
      throw Error(ExitCode::BadData, fmt::format("the contours have {} points, allowed {}", found.points,
                                                 std::numeric_limits<std::uint32_t>::max()));
    if (found.points > spec.point_capacity) spec.point_capacity = found.points + found.points / 4;
    if (found.contours > spec.contour_capacity) spec.contour_capacity = found.contours + found.contours / 4;
    worker->points_seen = spec.point_capacity;
    worker->contours_seen = spec.contour_capacity;
    found = run(*worker, spec, map, mask, place);
  }
  WorkerPool::instance().give(std::move(worker));
  return found;
}

FoundInMaps download(const DeviceContours& contours) {
  const DeviceScope scope(contours.place.device);
  FoundInMaps found{.points = Buffer<std::byte>(contours.points * point_bytes(contours.type)),
                    .offsets = Buffer<std::uint32_t>(contours.contours + 1),
                    .closed = Buffer<std::uint8_t>(contours.contours + 1),
                    .class_begin = std::vector<std::uint32_t>(static_cast<std::size_t>(contours.planes) + 1)};
  // Through page-locked memory, in one piece each.
  const std::size_t sizes[] = {found.points.size(), found.offsets.size() * sizeof(std::uint32_t),
                               contours.contours, found.class_begin.size() * sizeof(std::uint32_t)};
  void* const targets[] = {found.points.data(), found.offsets.data(), found.closed.data(),
                           found.class_begin.data()};
  const void* const sources[] = {contours.point_data, contours.offsets, contours.closed,
                                 contours.class_begin};
  std::size_t all = 0;
  for (const std::size_t size : sizes) all += align_up(size);
  const PooledBlock staging(all, MemoryKind::Pinned, contours.place);
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (sizes[part] != 0) copy_async(staging.data() + at, sources[part], sizes[part], contours.place.stream);
    at += align_up(sizes[part]);
  }
  synchronize_stream(contours.place.stream);
  at = 0;
  for (int part = 0; part < 4; ++part) {
    if (sizes[part] != 0) std::memcpy(targets[part], staging.data() + at, sizes[part]);
    at += align_up(sizes[part]);
  }
  return found;
}

MapStack upload(const MapStack& stack, const DevicePlace& place, std::shared_ptr<PooledBlock>& block) {
  const DeviceScope scope(place.device);
  const ImageFormat& format = stack.first.format;
  const std::size_t row = format.row_bytes();
  const int planes = format.planes();
  const std::size_t plane_bytes = row * static_cast<std::size_t>(format.height);
  const std::size_t frame_bytes = plane_bytes * static_cast<std::size_t>(planes);
  const std::size_t bytes = frame_bytes * static_cast<std::size_t>(stack.frames);
  const PooledBlock staging(bytes, MemoryKind::Pinned, place);
  block = std::make_shared<PooledBlock>(bytes, MemoryKind::Device, place);
  std::byte* to = staging.data();
  for (int frame = 0; frame < stack.frames; ++frame) {
    ImageView view = stack.first;
    view.data = static_cast<char*>(view.data) + frame * stack.frame_pitch;
    for (int plane = 0; plane < planes; ++plane)
      for (int y = 0; y < format.height; ++y, to += row)
        std::memcpy(to, view.row<const std::byte>(y, plane), row);
  }
  copy_async(block->data(), staging.data(), bytes, place.stream);
  synchronize_stream(place.stream);  // the staging memory may be used by the next call
  MapStack on_device = stack;
  on_device.first.data = block->data();
  on_device.first.row_pitch = static_cast<std::ptrdiff_t>(row);
  on_device.first.plane_pitch = static_cast<std::ptrdiff_t>(plane_bytes);
  on_device.frame_pitch = static_cast<std::ptrdiff_t>(frame_bytes);
  return on_device;
}

std::pair<double, double> sample_range(const ImageView& plane, const DevicePlace& place) {
  const DeviceScope scope(place.device);
  double pairs[2 * kRangeBlocks];
  const PooledBlock device(sizeof(pairs), MemoryKind::Device, place);
  const PooledBlock host(sizeof(pairs), MemoryKind::Pinned, place);
  sample_ranges(plane, reinterpret_cast<double*>(device.data()), place.stream);
  copy_async(host.data(), device.data(), sizeof(pairs), place.stream);
  synchronize_stream(place.stream);
  std::memcpy(pairs, host.data(), sizeof(pairs));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (unsigned block = 0; block < kRangeBlocks; ++block) {
    low = std::min(low, pairs[2 * block]);
    high = std::max(high, pairs[2 * block + 1]);
  }
  return {low, high};
}

double default_level_on_device(const ImageView& plane, const DevicePlace& place) {
  const auto [low, high] = sample_range(plane, place);
  if (low > high) return std::numeric_limits<double>::quiet_NaN();
  return level_between(plane.format.type, low, high);
}

}  // namespace contorno::python
