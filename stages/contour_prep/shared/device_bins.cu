// DeviceBins on the device.
#include <bit>

#include "cuda/thrust.cuh"
#include "stages/contour_prep/shared/device_bins.cuh"

namespace contorno {

void DeviceBins::plan(PlanContext& context, const ContoursFormat& format) {
  const std::size_t points = format.point_capacity, buckets = std::bit_ceil(points | 1);
  sort_.plan(context, points, std::bit_width(buckets));
  mask_ = static_cast<unsigned>(buckets - 1);
  arrays_.plan(context, MemoryKind::Device, format, job());
}

device_bins_cuda::Job DeviceBins::job() const {
  device_bins_cuda::Job job;
  job.bins.mask = mask_;
  return job;
}

DeviceBinsView DeviceBins::view(const RunContext& context, const Nearness& nearness) const {
  DeviceBinsView bins = arrays_.of(context, job()).bins;
  bins.nearness = nearness;
  return bins;
}

void DeviceBins::run(const RunContext& context, const ContoursView& in, const Nearness& nearness,
                     const DeviceWords& zeroed) const {
  device_bins_cuda::Job job = arrays_.of(context, this->job());
  job.in = in, job.bins.nearness = nearness, job.zeroed = zeroed;
  const device_bins_cuda::MakeKeys make_keys{job};
  for_each_number("make_keys", context.stream, make_keys.count(), make_keys);
  sort_.run(context, {job.keys, job.sorted_keys, job.indices, job.order});
  for_each_number("list_bins", context.stream, in.format.point_capacity, device_bins_cuda::ListBins{job});
}

}  // namespace contorno
