// DeviceBins on the device.
#include <bit>

#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/device_bins.cuh"

namespace contorno {

void DeviceBins::plan(PlanContext& context, const ContoursFormat& format) {
  const std::size_t points = format.point_capacity, buckets = std::bit_ceil(points | 1);
  const auto take = [&](std::size_t count) {
    return context.temporary(count * sizeof(unsigned), MemoryKind::Device);
  };
  mask_ = static_cast<unsigned>(buckets - 1);
  begins_ = take(buckets), ends_ = take(buckets), count_ = take(1);
  keys_ = take(points);
  points_ = context.temporary(points * sizeof(BinnedPoint), MemoryKind::Device);
  is_ranked_ = points <= kMostRanked;
  if (!is_ranked_) {
    sorted_keys_ = take(points), indices_ = take(points), order_ = take(points);
    sort_.plan(context, points, std::bit_width(buckets));
  }
  launch_.plan();
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
  device_bins_cuda::Job job{
      .in = in, .bins = view(context, nearness), .keys = context.scratch<unsigned>(keys_)};
  if (!is_ranked_) {
    job.sorted_keys = context.scratch<unsigned>(sorted_keys_);
    job.indices = context.scratch<unsigned>(indices_);
    job.order = context.scratch<unsigned>(order_);
  }
  launch_("make_keys", device_bins_cuda::make_keys, context.stream, job);
  if (is_ranked_)
    return launch_.with_shared(sizeof(RankShared<unsigned>), "rank_points", device_bins_cuda::rank_points,
                               context.stream, job);
  sort_.run(context, job.keys, job.sorted_keys, job.indices, job.order);
  launch_("list_bins", device_bins_cuda::list_bins, context.stream, job);
}

}  // namespace contorno
