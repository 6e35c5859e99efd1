// The kernels of DeviceBins. How many points there are is known to the device alone: where there is room for
// many, CUB sorts the whole capacity, and what is not in the table comes last.
//
//   make_keys    the bucket of every point, empty buckets, and no point in them
//   rank_points  where there is room for few: the points by buckets, in their order, and where each begins
//                and ends
//   (sort)       else: points by buckets, in their order
//   list_bins    the points in that order, and where each bucket begins and ends
#pragma once

#include "stages/contour_prep/shared/bin_lookup.cuh"
#include "stages/contour_prep/shared/rank.cuh"

namespace contorno::device_bins_cuda {

/// One launch's arguments.
struct Job {
  ContoursView in;
  DeviceBinsView bins;
  unsigned *keys = nullptr, *sorted_keys = nullptr;  ///< a point of the capacity
  /// Numbers of points, in the order of the keys. Only for the sort, as sorted_keys.
  unsigned *indices = nullptr, *order = nullptr;
};

__global__ void __launch_bounds__(kArrayThreads) make_keys(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.point_capacity);
  const bool fits = job.in.fits();
  const auto points = fits ? static_cast<unsigned>(job.in.counts->points) : 0U;
  const auto contours = fits ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  for (unsigned long long point = global_thread(); point < capacity; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    unsigned key = job.bins.mask + 1;
    if (i < points && is_finite(job.in.points[i])) {
      const unsigned contour = part_of(job.in.offsets, contours, i);
      if (i < OwnPoints(job.in, contour).end)
        key = bucket_in(job.bins, job.bins.nearness.bin_of(job.in.points[i]), class_of(job.in, contour));
    }
    job.keys[i] = key;
    if (job.indices != nullptr) job.indices[i] = i;
  }
  for (unsigned long long bucket = global_thread(); bucket <= job.bins.mask; bucket += all_threads())
    job.bins.begins[bucket] = ~0U, job.bins.ends[bucket] = 0;
  if (global_thread() == 0) *job.bins.count = 0;
}

__global__ void __launch_bounds__(kArrayThreads) rank_points(const __grid_constant__ Job job) {
  const bool fits = job.in.fits();
  const auto points = fits ? static_cast<unsigned>(job.in.counts->points) : 0U;
  const auto contours = fits ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  for (unsigned first = blockIdx.x * kWarpLanes; first < points; first += gridDim.x * kWarpLanes) {
    const unsigned rank = rank_of_lane(job.keys, points, first, block_shared<RankShared<unsigned>>());
    if (threadIdx.x >= kWarpLanes) continue;
    const unsigned i = first + threadIdx.x, key = i < points ? job.keys[i] : job.bins.mask + 1;
    const bool is_listed = key <= job.bins.mask;
    if (is_listed) {
      job.bins.points[rank] = {job.in.points[i], i, part_of(job.in.offsets, contours, i)};
      atomicMin(&job.bins.begins[key], rank);
      atomicMax(&job.bins.ends[key], rank + 1);
    }
    const unsigned end = highest_of_warp(is_listed ? rank + 1 : 0);
    if (threadIdx.x == 0) atomicMax(job.bins.count, end);
  }
}

__global__ void __launch_bounds__(kArrayThreads) list_bins(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.point_capacity);
  const auto contours = job.in.fits() ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  const unsigned none = job.bins.mask + 1;
  for (unsigned long long place = global_thread(); place < capacity; place += all_threads()) {
    const auto at = static_cast<unsigned>(place);
    const unsigned key = job.sorted_keys[at], i = job.order[at];
    const unsigned before = at > 0 ? job.sorted_keys[at - 1] : none + 1;
    const unsigned after = at + 1 < capacity ? job.sorted_keys[at + 1] : none;
    if (key == none) continue;
    job.bins.points[at] = {job.in.points[i], i, part_of(job.in.offsets, contours, i)};
    if (before != key) job.bins.begins[key] = at;
    if (after != key) job.bins.ends[key] = at + 1;
    if (after == none) *job.bins.count = at + 1;
  }
}

}  // namespace contorno::device_bins_cuda
