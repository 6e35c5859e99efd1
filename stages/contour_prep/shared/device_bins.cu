// DeviceBins on the device.
#include <bit>

#include "stages/contour_prep/shared/device_bins.cuh"

namespace contorno {

using device_bins_cuda::Job;
using device_bins_cuda::kThreads;

void DeviceBins::plan(PlanContext& context, const ContoursFormat& format) {
  const std::size_t points = format.point_capacity, buckets = std::bit_ceil(points | 1);
  const auto take = [&](std::size_t count) {
    return context.temporary(count * sizeof(unsigned), MemoryKind::Device);
  };
  mask_ = static_cast<unsigned>(buckets - 1);
  begins_ = take(buckets), ends_ = take(buckets), count_ = take(1);
  keys_ = take(points), sorted_keys_ = take(points), indices_ = take(points), order_ = take(points);
  points_ = context.temporary(points * sizeof(BinnedPoint), MemoryKind::Device);
  sort_.plan(context, points, std::bit_width(buckets));
  blocks_ = 4 * multiprocessors();
}

DeviceBinsView DeviceBins::view(const RunContext& context, const Nearness& nearness) const {
  return {.nearness = nearness,
          .mask = mask_,
          .begins = context.scratch<unsigned>(begins_),
          .ends = context.scratch<unsigned>(ends_),
          .count = context.scratch<unsigned>(count_),
          .points = context.scratch<BinnedPoint>(points_)};
}

void DeviceBins::run(const RunContext& context, const ContoursView& in, const Nearness& nearness) const {
  const Job job{.in = in,
                .bins = view(context, nearness),
                .keys = context.scratch<unsigned>(keys_),
                .sorted_keys = context.scratch<unsigned>(sorted_keys_),
                .indices = context.scratch<unsigned>(indices_),
                .order = context.scratch<unsigned>(order_)};
  const auto start = [&](const char* name, auto* kernel) {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kThreads, 0, context.stream,
           job);
  };
  start("make_keys", device_bins_cuda::make_keys);
  sort_.run(context, job.keys, job.sorted_keys, job.indices, job.order);
  start("list_bins", device_bins_cuda::list_bins);
}

}  // namespace contorno
