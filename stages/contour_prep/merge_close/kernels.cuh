// The kernels of merge_close, behind DeviceBins. Sets of contours are trees: each contour has a parent with a
// smaller number, and the first contour of a set is its own parent. Which contours are in a set does not
// depend on the order in which pairs are joined.
//
//   make_sets      a set a contour
//   join_in_bins   joins contours with points in one bin
//   join_bins      joins contours with near points in bins around each other
//   find_sets      the set of every contour, as a key
//   (sort)         contours by sets, in their order
//   measure_sets   how many contours (0 or 1) and points each one adds to the output, in one word
//   (scan)         the words become places
//   place_sets     offsets, closed flags, begins of the classes, and counts
//   copy_points    every point to its place
#pragma once

#include "stages/contour_prep/merge_close/stage.h"
#include "stages/contour_prep/shared/bin_lookup.cuh"

namespace contorno::merge_close_cuda {

inline constexpr unsigned kThreads = 256;
/// Contours are counted above this bit, points below.
inline constexpr int kContourBit = 32;

/// One launch's arguments.
struct Job {
  ContoursView in, out;
  DeviceBinsView bins;
  unsigned* parents = nullptr;  ///< a contour of the capacity, as what follows
  /// Whether others belong to the contour's set; of the first contour of each set.
  unsigned* is_joined = nullptr;
  unsigned *keys = nullptr, *sorted_keys = nullptr;  ///< the set of each contour; ~0: no contour
  unsigned *contours = nullptr, *order = nullptr;    ///< numbers of contours, in the order of the keys
  unsigned* ranks = nullptr;                         ///< the place of each contour in that order
  unsigned long long* words = nullptr;               ///< in that order, and one more
  const unsigned long long* places = nullptr;        ///< the sums of the words before each
};

__device__ __forceinline__ unsigned contours_of(const ContoursView& in) {
  return in.fits() ? static_cast<unsigned>(in.counts->contours) : 0U;
}

__global__ void __launch_bounds__(kThreads) make_sets(const __grid_constant__ Job job) {
  const unsigned contours = contours_of(job.in);
  for (unsigned c = global_thread(); c < contours; c += all_threads()) {
    job.parents[c] = c;
    job.is_joined[c] = 0;
  }
}

/// The first contour of the set, as far as this thread sees it. What it reads may be old, but is above the
/// contour in its tree all the same; the way there becomes shorter.
__device__ inline unsigned find_set(unsigned* parents, unsigned contour) {
  unsigned parent = __ldcg(&parents[contour]);
  while (parent != contour) {
    const unsigned above = __ldcg(&parents[parent]);
    if (above != parent) parents[contour] = above;
    contour = parent;
    parent = above;
  }
  return contour;
}

/// Joins the sets of two contours. Who finds that a root has got another parent meanwhile joins that one too.
__device__ inline void join_sets(unsigned* parents, unsigned a, unsigned b) {
  a = find_set(parents, a), b = find_set(parents, b);
  while (a != b) {
    if (a < b) {
      const unsigned lower = a;
      a = b, b = lower;
    }
    const unsigned before = atomicMin(&parents[a], b);
    if (before == a) return;
    a = before;
  }
}

/// The contours of one class.
struct ClassContours {
  unsigned number = 0, begin = 0, end = 0;
  __device__ ClassContours(const ContoursView& in, unsigned contour)
      : number(device_bins_cuda::class_of(in, contour)),
        begin(in.class_begin[number]),
        end(in.class_begin[number + 1]) {}
  __device__ bool has(unsigned contour) const { return contour >= begin && contour < end; }
};

__global__ void __launch_bounds__(kThreads) join_in_bins(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const DeviceBinsView& bins = job.bins;
  const unsigned count = *bins.count;
  for (unsigned long long place = global_thread(); place < count; place += all_threads()) {
    const auto at = static_cast<unsigned>(place);
    const BinnedPoint point = bins.points[at];
    const ClassContours own(job.in, point.contour);
    const Bin bin = bins.nearness.bin_of(point.point);
    // The point before it in its bin; other bins of the bucket may have points between.
    const unsigned begin = bins.begins[device_bins_cuda::bucket_in(bins, bin, own.number)];
    for (unsigned before = at; before > begin; --before) {
      const BinnedPoint other = bins.points[before - 1];
      if (!own.has(other.contour) || !(bins.nearness.bin_of(other.point) == bin)) continue;
      if (other.contour != point.contour) join_sets(job.parents, point.contour, other.contour);
      break;
    }
  }
}

/// Joins a point's contour with the set of the contours in another bin if one of their points is near.
__device__ inline void join_with_bin(const Job& job, const BinnedPoint& point, const ClassContours& own,
                                     const Bin& bin) {
  const DeviceBinsView& bins = job.bins;
  const unsigned bucket = device_bins_cuda::bucket_in(bins, bin, own.number);
  bool are_apart = false;
  for (unsigned at = bins.begins[bucket]; at < bins.ends[bucket]; ++at) {
    const BinnedPoint other = bins.points[at];
    if (!own.has(other.contour) || !(bins.nearness.bin_of(other.point) == bin)) continue;
    // All contours with points in the bin are in one set.
    if (!are_apart && find_set(job.parents, point.contour) == find_set(job.parents, other.contour)) return;
    are_apart = true;
    if (!bins.nearness(point.point, other.point)) continue;
    join_sets(job.parents, point.contour, other.contour);
    return;
  }
}

__global__ void __launch_bounds__(kThreads) join_bins(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const unsigned count = *job.bins.count;
  for (unsigned long long place = global_thread(); place < count; place += all_threads()) {
    const BinnedPoint point = job.bins.points[place];
    const ClassContours own(job.in, point.contour);
    const Bin bin = job.bins.nearness.bin_of(point.point);
    for (int number = 1; number <= kBinsAround / 2; ++number)
      join_with_bin(job, point, own, bin_around(bin, number));
  }
}

__global__ void __launch_bounds__(kThreads) find_sets(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.contour_capacity);
  const unsigned contours = contours_of(job.in);
  for (unsigned c = global_thread(); c < capacity; c += all_threads()) {
    unsigned key = ~0U;
    if (c < contours) {
      key = find_set(job.parents, c);
      if (key != c) job.is_joined[key] = 1;
    }
    job.keys[c] = key;
    job.contours[c] = c;
  }
}

/// The points that a contour adds to the output.
__device__ __forceinline__ unsigned points_of(const Job& job, unsigned contour, bool is_joined) {
  const unsigned points = job.in.offsets[contour + 1] - job.in.offsets[contour];
  return is_joined ? own_points(points, job.in.closed[contour] != 0) : points;
}

__global__ void __launch_bounds__(kThreads) measure_sets(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.contour_capacity);
  const unsigned contours = contours_of(job.in);
  for (unsigned long long place = global_thread(); place <= capacity; place += all_threads()) {
    unsigned long long word = 0;
    if (place < contours) {
      const unsigned contour = job.order[place], set = job.sorted_keys[place];
      job.ranks[contour] = static_cast<unsigned>(place);
      word = points_of(job, contour, job.is_joined[set] != 0) | (set == contour ? 1ULL << kContourBit : 0ULL);
    }
    job.words[place] = word;
  }
}

__global__ void __launch_bounds__(kThreads) place_sets(const __grid_constant__ Job job) {
  const bool fits = job.in.fits();
  const unsigned contours = contours_of(job.in);
  for (unsigned i = global_thread(); i <= contours; i += all_threads()) {
    const unsigned long long word = job.places[i];
    const auto place = static_cast<unsigned>(word >> kContourBit);
    if (i == contours) {
      job.out.offsets[place] = static_cast<unsigned>(word);
      *job.out.counts = fits ? ContourCounts{static_cast<unsigned>(word), place} : *job.in.counts;
    } else if (const unsigned set = job.sorted_keys[i]; set == job.order[i]) {
      job.out.offsets[place] = static_cast<unsigned>(word);
      job.out.closed[place] = job.is_joined[set] != 0 ? 0 : job.in.closed[set];
    }
  }
  for (unsigned k = global_thread(); k <= static_cast<unsigned>(job.in.format.classes); k += all_threads())
    job.out.class_begin[k] =
        fits ? static_cast<unsigned>(job.places[job.in.class_begin[k]] >> kContourBit) : 0;
}

__global__ void __launch_bounds__(kThreads) copy_points(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const auto points = static_cast<unsigned>(job.in.counts->points);
  const unsigned contours = contours_of(job.in);
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned contour = part_of(job.in.offsets, contours, i), order = i - job.in.offsets[contour];
    const bool is_joined = job.is_joined[job.keys[contour]] != 0;
    if (order < points_of(job, contour, is_joined))
      job.out.points[static_cast<unsigned>(job.places[job.ranks[contour]]) + order] = job.in.points[i];
  }
}

}  // namespace contorno::merge_close_cuda
