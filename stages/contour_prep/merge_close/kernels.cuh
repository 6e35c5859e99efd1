// The kernels of merge_close, behind DeviceBins. Sets of contours are trees: each contour has a parent with a
// smaller number, and the first contour of a set is its own parent. Which contours are in a set does not
// depend on the order in which pairs are joined.
//
//   JoinInBins    joins contours with points in one bin
//   join_bins     joins contours with near points in bins around each other: a kernel, because threads share
//                 the bins around a point where points are few
//   FindSets      the set of every contour, as a key
//   (sort)        contours by sets, in their order
//   measure_sets  what each one gives, as a word: a kernel, because blocks add up the words (RangeSums)
//   write_sets    the contours, likewise
#pragma once

#include "stages/contour_prep/merge_close/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/device_bins.cuh"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::merge_close_cuda {

/// One launch's arguments.
struct Job {
  PlacementView placement;  ///< placement of the contours in the order of their sets
  DeviceBinsView bins;
  /// A contour of the capacity, as what follows; 0 at first (parent_word). `is_joined` lies behind it.
  unsigned* parents = nullptr;
  /// Whether others belong to the contour's set; of the first contour of each set. 0 at first.
  unsigned* is_joined = nullptr;
  unsigned *keys = nullptr, *sorted_keys = nullptr;  ///< the set of each contour; ~0: no contour
  unsigned *contours = nullptr, *order = nullptr;    ///< numbers of contours, in the order of the keys
  unsigned* ranks = nullptr;                         ///< the place of each contour in that order

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    take(parents, 2 * contours);
    for (auto** one : {&keys, &sorted_keys, &this->contours, &order, &ranks}) take(*one, contours);
  }
};

/// The parent of a contour, and the word that says so, which is 0 for a root and grows as parents become
/// lower.
__device__ __forceinline__ unsigned parent_of(const unsigned* parents, unsigned contour) {
  const unsigned word = load_relaxed(&parents[contour]);
  return word == 0 ? contour : ~word;
}
__device__ __forceinline__ unsigned parent_word(unsigned parent) {
  return ~parent;
}

/// The first contour of the set, as far as this thread sees it. What it reads may be old, but is above the
/// contour in its tree all the same; the way there becomes shorter.
__device__ inline unsigned find_set(unsigned* parents, unsigned contour) {
  unsigned parent = parent_of(parents, contour);
  while (parent != contour) {
    const unsigned above = parent_of(parents, parent);
    // A parent that join_sets has written meanwhile may get lost: it joins that with the one before as well.
    if (above != parent) store_relaxed(&parents[contour], parent_word(above));
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
    const unsigned before = atomicMax(&parents[a], parent_word(b));
    if (before == 0) return;
    a = ~before;
  }
}

/// The contours of one class.
struct ClassContours {
  unsigned number = 0, begin = 0, end = 0;
  __device__ ClassContours(const ContoursView& in, unsigned contour)
      : number(class_of(in, contour)), begin(in.class_begin[number]), end(in.class_begin[number + 1]) {}
  __device__ bool has(unsigned contour) const { return contour >= begin && contour < end; }
};

/// Joins the contour of a point with that of the point before it in the same bin. Called for each point that
/// there is room for.
struct JoinInBins : Job {
  __device__ void operator()(unsigned at) const {
    const ContoursView& in = placement.in;
    if (!in.fits() || at >= *bins.count) return;
    const BinnedPoint point = bins.points[at];
    const ClassContours own(in, point.contour);
    const Bin bin = bins.nearness.bin_of(point.point);
    // The point before it in its bin; other bins of the bucket may have points between.
    const unsigned begin = bins.begins[device_bins_cuda::bucket_in(bins, bin, own.number)];
    for (unsigned before = at; before > begin; --before) {
      const BinnedPoint other = bins.points[before - 1];
      if (!own.has(other.contour) || !(bins.nearness.bin_of(other.point) == bin)) continue;
      if (other.contour != point.contour) join_sets(parents, point.contour, other.contour);
      break;
    }
  }
};

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
    if (other.contour == point.contour) return;
    if (!are_apart && find_set(job.parents, point.contour) == find_set(job.parents, other.contour)) return;
    are_apart = true;
    if (!bins.nearness(point.point, other.point)) continue;
    join_sets(job.parents, point.contour, other.contour);
    return;
  }
}

__global__ void __launch_bounds__(kArrayThreads) join_bins(const __grid_constant__ Job job) {
  if (!job.placement.in.fits()) return;
  constexpr unsigned kBins = kBinsAround / 2;
  device_bins_cuda::for_bins_around(
      *job.bins.count, kBins, [&](unsigned place, unsigned first, unsigned step) {
        const BinnedPoint point = job.bins.points[place];
        const ClassContours own(job.placement.in, point.contour);
        const Bin bin = job.bins.nearness.bin_of(point.point);
        for (unsigned k = first; k < kBins; k += step)
          join_with_bin(job, point, own, bin_around(bin, static_cast<int>(k) + 1));
      });
}

/// Finds the set of a contour. Called for each contour that there is room for.
struct FindSets : Job {
  __device__ void operator()(unsigned contour) const {
    unsigned key = ~0U;
    if (contour < contours_of(placement.in)) {
      key = find_set(parents, contour);
      if (key != contour) is_joined[key] = 1;
    }
    keys[contour] = key, contours[contour] = contour;
  }
};

/// The points that a contour gives.
__device__ __forceinline__ unsigned points_from(const Job& job, unsigned contour, bool is_joined) {
  const ContoursView& in = job.placement.in;
  return is_joined ? OwnPoints(in, contour).count : points_of(in, contour);
}

__global__ void __launch_bounds__(kArrayThreads) measure_sets(const __grid_constant__ Job job) {
  measure_contours(job.placement, [&](unsigned i) {
    const unsigned contour = job.order[i], set = job.sorted_keys[i];
    const unsigned points = points_from(job, contour, job.is_joined[set] != 0);
    job.ranks[contour] = i;
    return set == contour ? contour_word(points) : static_cast<unsigned long long>(points);
  });
}

__global__ void __launch_bounds__(kArrayThreads) write_sets(const __grid_constant__ Job job) {
  const ContoursView &in = job.placement.in, &out = job.placement.out;
  const SumsBefore sums(job.placement.sums, block_shared<RangeShared>());
  place_contours(job.placement, sums,
                 [&](unsigned set) { return job.is_joined[set] == 0 && in.closed[set] != 0; });
  const unsigned contours = contours_of(in);
  const unsigned long long points = contours > 0 ? in.counts->points : 0;
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned contour = part_of(in.offsets, contours, i), order = i - in.offsets[contour];
    const bool is_joined = job.is_joined[job.keys[contour]] != 0;
    if (order < points_from(job, contour, is_joined))
      out.points[points_in(sums[job.ranks[contour]]) + order] = in.points[i];
  }
}

}  // namespace contorno::merge_close_cuda
