// The kernels of DeviceBins. How many points there are is known to the device alone.
//
//   make_keys   the bucket of every point, empty buckets, no point in them, and what the caller wants to be 0
// Where there is room for few points:
//   count_bins  by one block: where each bucket begins and ends, and its points in any order
//   order_bins  the points in their order
// Else CUB sorts the whole capacity, and what is not in the table comes last:
//   (sort)      points by buckets, in their order
//   list_bins   the points in that order, and where each bucket begins and ends
#pragma once

#include "stages/contour_prep/shared/bin_lookup.cuh"

namespace contorno::device_bins_cuda {

/// One launch's arguments.
struct Job {
  ContoursView in;
  DeviceBinsView bins;
  bool are_few = false;
  unsigned* keys = nullptr;  ///< a point of the capacity, as what follows
  /// Numbers of points; by their keys, or where points are few by their buckets alone.
  unsigned* order = nullptr;
  /// Of the sort alone: the keys in their order, and the numbers before it.
  unsigned *sorted_keys = nullptr, *indices = nullptr;
  DeviceWords zeroed;

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t points = format.point_capacity, buckets = std::size_t{bins.mask} + 1;
    take(bins.begins, buckets), take(bins.ends, buckets), take(bins.count, 1), take(bins.points, points);
    take(keys, points), take(order, points);
    if (!are_few) take(sorted_keys, points), take(indices, points);
  }
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
    if (!job.are_few) job.indices[i] = i;
  }
  for (unsigned long long bucket = global_thread(); bucket <= job.bins.mask; bucket += all_threads())
    job.bins.begins[bucket] = job.bins.ends[bucket] = 0;
  for (unsigned long long word = global_thread(); word < job.zeroed.count; word += all_threads())
    job.zeroed.words[word] = 0;
  if (global_thread() == 0) *job.bins.count = 0;
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

// Few points ---------------------------------------------------------------------------------------------
inline constexpr unsigned kCountThreads = 1024;
/// Points of a thread of count_bins.
inline constexpr unsigned kCountEach = 16;

/// What the block of count_bins shares; behind it, for each bucket, how many points it has, and then where it
/// begins.
struct CountShared {
  unsigned warps[kCountThreads / kWarpLanes];
  __device__ unsigned* buckets() { return reinterpret_cast<unsigned*>(this + 1); }
};

__global__ void __launch_bounds__(kCountThreads) count_bins(const __grid_constant__ Job job) {
  auto& shared = block_shared<CountShared>();
  unsigned* const buckets = shared.buckets();
  const unsigned mask = job.bins.mask;
  const auto capacity = static_cast<unsigned>(job.in.format.point_capacity);
  unsigned keys[kCountEach], slots[kCountEach];
  for (unsigned k = 0; k < kCountEach; ++k) {
    const unsigned i = k * blockDim.x + threadIdx.x;
    keys[k] = i < capacity ? job.keys[i] : mask + 1;
  }
  for (unsigned bucket = threadIdx.x; bucket <= mask; bucket += blockDim.x) buckets[bucket] = 0;
  __syncthreads();
  for (unsigned k = 0; k < kCountEach; ++k)
    if (keys[k] <= mask) slots[k] = atomicAdd(&buckets[keys[k]], 1U);
  __syncthreads();
  // Buckets lie in the order of the threads that add them up.
  unsigned own = 0;
  for (unsigned bucket = threadIdx.x; bucket <= mask; bucket += blockDim.x) own += buckets[bucket];
  unsigned all = 0, before = sum_before_thread(own, shared.warps, all);
  for (unsigned bucket = threadIdx.x; bucket <= mask; bucket += blockDim.x) {
    const unsigned end = before + buckets[bucket];
    job.bins.begins[bucket] = buckets[bucket] = before;
    job.bins.ends[bucket] = before = end;
  }
  __syncthreads();
  for (unsigned k = 0; k < kCountEach; ++k)
    if (keys[k] <= mask) job.order[buckets[keys[k]] + slots[k]] = k * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) *job.bins.count = all;
}

__global__ void __launch_bounds__(kArrayThreads) order_bins(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const auto contours = static_cast<unsigned>(job.in.counts->contours);
  const unsigned count = *job.bins.count;
  for (unsigned at = global_thread(); at < count; at += all_threads()) {
    const unsigned i = job.order[at], key = job.keys[i];
    const unsigned begin = job.bins.begins[key], end = job.bins.ends[key];
    unsigned place = begin;
    for (unsigned other = begin; other < end; ++other) place += job.order[other] < i ? 1U : 0U;
    job.bins.points[place] = {job.in.points[i], i, part_of(job.in.offsets, contours, i)};
  }
}

}  // namespace contorno::device_bins_cuda
