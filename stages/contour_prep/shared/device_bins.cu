// DeviceBins on the device.
#include <algorithm>
#include <bit>

#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/device_bins.cuh"

namespace contorno {

void DeviceBins::plan(PlanContext& context, const ContoursFormat& format) {
  using device_bins_cuda::CountShared, device_bins_cuda::kCountEach, device_bins_cuda::kCountThreads;
  const std::size_t points = format.point_capacity;
  const auto take = [&](std::size_t count) {
    return context.temporary(count * sizeof(unsigned), MemoryKind::Device);
  };
  std::size_t buckets = std::bit_ceil(points | 1);
  are_few_ = points <= kCountEach * kCountThreads;
  if (are_few_) {
    buckets = std::min<std::size_t>(buckets, kMostBuckets);
    shared_bytes_ = sizeof(CountShared) + buckets * sizeof(unsigned);
    are_few_ = shared_bytes_ <= most_shared();
  }
  if (are_few_)
    allow_shared("count_bins", device_bins_cuda::count_bins, shared_bytes_);
  else
    sort_.plan(context, points, std::bit_width(buckets));
  mask_ = static_cast<unsigned>(buckets - 1);
  begins_ = take(buckets), ends_ = take(buckets), count_ = take(1);
  for (Scratch* one : {&keys_, &sorted_keys_, &indices_, &order_}) *one = take(points);
  points_ = context.temporary(points * sizeof(BinnedPoint), MemoryKind::Device);
  launch_.plan(buckets);
}

DeviceBinsView DeviceBins::view(const RunContext& context, const Nearness& nearness) const {
  return {.nearness = nearness,
          .mask = mask_,
          .begins = context.scratch<unsigned>(begins_),
          .ends = context.scratch<unsigned>(ends_),
          .count = context.scratch<unsigned>(count_),
          .points = context.scratch<BinnedPoint>(points_)};
}

void DeviceBins::run(const RunContext& context, const ContoursView& in, const Nearness& nearness,
                     const DeviceWords& zeroed) const {
  const device_bins_cuda::Job job{.in = in,
                                  .bins = view(context, nearness),
                                  .keys = context.scratch<unsigned>(keys_),
                                  .sorted_keys = context.scratch<unsigned>(sorted_keys_),
                                  .indices = context.scratch<unsigned>(indices_),
                                  .order = context.scratch<unsigned>(order_),
                                  .zeroed = zeroed};
  launch_("make_keys", device_bins_cuda::make_keys, context.stream, job);
  if (are_few_) {
    launch("count_bins", device_bins_cuda::count_bins, LaunchKind::Plain, LaunchOrder::AfterPrevious, 1,
           device_bins_cuda::kCountThreads, shared_bytes_, context.stream, job);
    launch_("order_bins", device_bins_cuda::order_bins, context.stream, job);
  } else {
    sort_.run(context, job.keys, job.sorted_keys, job.indices, job.order);
    launch_("list_bins", device_bins_cuda::list_bins, context.stream, job);
  }
}

}  // namespace contorno
