#include "stages/contours/cuda/find_contours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/cuda/engine.h"

namespace contorno {
namespace {

/// Copies rows without the gaps between them; returns where the copy ends.
void pack_rows(const ImageView& from, std::byte* to, int threads) {
  const std::size_t bytes = from.format.row_bytes();
  for_rows(threads, from.format.height, [&](int y) {
    std::memcpy(to + static_cast<std::size_t>(y) * bytes, from.row<const std::byte>(y), bytes);
  });
}

/// Memory that only grows.
std::byte* at_least(Block& block, std::size_t bytes, MemoryKind kind) {
  if (block.size() < bytes) {
    block = Block();
    block = Block(bytes, kind);
  }
  return block.data();
}

ContourEngineSpec spec_of(const ImageFormat& image, const FindContoursOptions& options, double level) {
  ContourEngineSpec spec;
  spec.map = image;
  spec.map.layout = Layout::Planar;
  spec.divisor = options.scale.divisor;
  spec.levels = {level};
  spec.connectivity = options.fully_connected;
  spec.orientation = options.positive_orientation;
  spec.points = ContourEngineSpec::Points::Float64;
  return spec;
}

/// Where the arrays of a result with these capacities lie in one block.
ContoursView64 result_view(std::byte* data, std::uint64_t points, std::uint64_t contours,
                           std::size_t& bytes) {
  std::size_t at = 0;
  const auto allocate = [&](std::size_t size) {
    std::byte* const begin = data == nullptr ? nullptr : data + at;
    at += align_up(size);
    return begin;
  };
  ContoursView64 view;
  view.counts = reinterpret_cast<ContourCounts*>(allocate(sizeof(ContourCounts)));
  view.class_begin = reinterpret_cast<std::uint32_t*>(allocate(2 * sizeof(std::uint32_t)));
  view.points = reinterpret_cast<Point64*>(allocate(points * sizeof(Point64)));
  view.offsets = reinterpret_cast<std::uint32_t*>(allocate((contours + 1) * sizeof(std::uint32_t)));
  view.closed = reinterpret_cast<std::uint8_t*>(allocate(contours));
  bytes = at;
  return view;
}

static_assert(sizeof(Point64) == sizeof(PointD), "points are copied as they lie");

}  // namespace

class DeviceContourFinder::Impl {
 public:
  Impl() : stream_(Stream::create()), counts_(sizeof(ContourCounts), MemoryKind::Pinned) {}

  FoundContours find(const ImageView& image, const FindContoursOptions& options) {
    FoundContours found;
    found.level = options.level ? *options.level : middle_level(image, options.scale);
    upload(image, options);
    ContourEngineSpec spec = spec_of(image.format, options, found.level);
    // A point at every fourth sample and a contour at every 64th; more is asked for when it was too few.
    const auto samples =
        static_cast<std::uint64_t>(image.format.width) * static_cast<std::uint64_t>(image.format.height);
    spec.point_capacity = std::max(samples / 4 + 1024, points_seen_);
    spec.contour_capacity = std::max(samples / 64 + 256, contours_seen_);
    ContourCounts counts = run(spec);
    while (counts.points > spec.point_capacity || counts.contours > spec.contour_capacity) {
      if (counts.points > std::numeric_limits<std::uint32_t>::max())
        throw Error(ExitCode::BadData, fmt::format("the contours have {} points, allowed {}", counts.points,
                                                   std::numeric_limits<std::uint32_t>::max()));
      spec.point_capacity = std::max(spec.point_capacity, counts.points + counts.points / 4);
      spec.contour_capacity = std::max(spec.contour_capacity, counts.contours + counts.contours / 4);
      counts = run(spec);
    }
    points_seen_ = std::max(points_seen_, counts.points);
    contours_seen_ = std::max(contours_seen_, counts.contours);
    download(counts, found);
    return found;
  }

 private:
  void upload(const ImageView& image, const FindContoursOptions& options) {
    const std::size_t image_bytes = image.format.row_bytes() * static_cast<std::size_t>(image.format.height);
    const bool masked = options.mask.data != nullptr;
    const std::size_t mask_bytes =
        masked ? options.mask.format.row_bytes() * static_cast<std::size_t>(options.mask.format.height) : 0;
    const std::size_t bytes = align_up(image_bytes) + mask_bytes;
    std::byte* const staged = at_least(staging_, bytes, MemoryKind::Pinned);
    std::byte* const device = at_least(input_, bytes, MemoryKind::Device);
    pack_rows(image, staged, options.threads);
    if (masked) pack_rows(options.mask, staged + align_up(image_bytes), options.threads);
    copy_async(device, staged, bytes, stream_.get());
    map_ = {.data = device, .format = image.format};
    map_.format.layout = Layout::Planar;
    map_.row_pitch = static_cast<std::ptrdiff_t>(image.format.row_bytes());
    mask_ = {};
    if (masked)
      mask_ = {reinterpret_cast<const std::uint8_t*>(device + align_up(image_bytes)),
               static_cast<std::ptrdiff_t>(options.mask.format.row_bytes())};
  }

  /// One run with these capacities, to the end.
  ContourCounts run(const ContourEngineSpec& spec) {
    // A workspace is cleared when its layout changes; every run leaves it clean for the next one like it.
    if (!prepared_ || !(engine_.spec() == spec)) {
      prepared_ = false;
      const std::size_t workspace_bytes = engine_.plan(spec);
      engine_.prepare(at_least(workspace_, workspace_bytes, MemoryKind::Device), stream_.get());
      prepared_ = true;
    }
    std::size_t bytes = 0;
    result_view(nullptr, spec.point_capacity, spec.contour_capacity, bytes);
    result_ = result_view(at_least(output_, bytes, MemoryKind::Device), spec.point_capacity,
                          spec.contour_capacity, bytes);
    engine_.enqueue(map_, mask_, workspace_.data(), result_, stream_.get());
    copy_async(counts_.data(), result_.counts, sizeof(ContourCounts), stream_.get());
    stream_.synchronize();
    ContourCounts counts;
    std::memcpy(&counts, counts_.data(), sizeof(counts));
    return counts;
  }

  void download(const ContourCounts& counts, FoundContours& found) {
    found.points = Buffer<PointD>(counts.points);
    found.offsets = Buffer<std::uint32_t>(counts.contours + 1);
    found.closed = Buffer<std::uint8_t>(counts.contours);
    if (counts.points > 0)
      copy_async(found.points.data(), result_.points, counts.points * sizeof(PointD), stream_.get());
    copy_async(found.offsets.data(), result_.offsets, (counts.contours + 1) * sizeof(std::uint32_t),
               stream_.get());
    if (counts.contours > 0) copy_async(found.closed.data(), result_.closed, counts.contours, stream_.get());
    stream_.synchronize();
  }

  Stream stream_;
  CudaContourEngine engine_;
  Block staging_, input_, workspace_, output_, counts_;
  ImageView map_;
  MaskView mask_;
  ContoursView64 result_;
  bool prepared_ = false;
  std::uint64_t points_seen_ = 0, contours_seen_ = 0;
};

DeviceContourFinder::DeviceContourFinder() {
  const DeviceReport& device = device_report();
  if (!device.available)
    throw Error(ExitCode::Unavailable,
                fmt::format("backend cuda was asked for, but {}; {}", device.reason, device.fix));
  impl_ = std::make_unique<Impl>();
}

DeviceContourFinder::~DeviceContourFinder() = default;

FoundContours DeviceContourFinder::find(const ImageView& image, const FindContoursOptions& options) {
  check_find_contours(image, options.mask);
  return impl_->find(image, options);
}

}  // namespace contorno
