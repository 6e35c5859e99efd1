// What DeviceBins calls for each point, and how others find points in its bins. How many points there are is
// known to the device alone.
//
//   MakeKeys  the bucket of every point, empty buckets, no point in them, and what the caller wants to be 0
//   (sort)    the whole capacity by buckets, points of one in their order; what is in no bucket comes last
//   ListBins  the points in that order, and where each bucket begins and ends
#pragma once

#include <algorithm>

#include "cuda/threads.cuh"
#include "geometry/ascending.h"
#include "geometry/own_points.h"
#include "stages/contour_prep/shared/device_bins.h"
#include "stages/contour_prep/shared/placement.h"

namespace contorno::device_bins_cuda {

/// In which bucket the points of a bin are.
CONTORNO_HD inline unsigned bucket_in(const DeviceBinsView& bins, const Bin& bin, unsigned of_class) {
  constexpr unsigned kApart = 0x9E3779B9U;  // classes, which have bins in the same places
  return (BinHash(bin).bucket() + of_class * kApart) & bins.mask;
}

/// One launch's arguments.
struct Job {
  ContoursView in;
  DeviceBinsView bins;
  unsigned *keys = nullptr, *sorted_keys = nullptr;  ///< a point of the capacity, as what follows
  unsigned *indices = nullptr, *order = nullptr;     ///< numbers of points: before the sort, by their keys
  DeviceWords zeroed;

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t points = format.point_capacity, buckets = std::size_t{bins.mask} + 1;
    take(bins.begins, buckets), take(bins.ends, buckets), take(bins.count, 1), take(bins.points, points);
    for (unsigned** one : {&keys, &sorted_keys, &indices, &order}) take(*one, points);
  }
};

/// Makes the key of every point, and clears the buckets and what the caller wants to be 0. Called for every
/// number below count(): for each point that there is room for, each bucket, each word to clear.
struct MakeKeys : Job {
  std::size_t count() const {
    return std::max(
        {static_cast<std::size_t>(in.format.point_capacity), std::size_t{bins.mask} + 1, zeroed.count});
  }
  CONTORNO_HD void operator()(unsigned i) const {
    if (i == 0) *bins.count = 0;
    if (i < zeroed.count) zeroed.words[i] = 0;
    if (i <= bins.mask) bins.begins[i] = bins.ends[i] = 0;
    if (i >= in.format.point_capacity) return;
    const unsigned contours = contours_of(in);
    unsigned key = bins.mask + 1;
    if (contours > 0 && i < in.counts->points && is_finite(in.points[i])) {
      const unsigned contour = part_of(in.offsets, contours, i);
      if (i < OwnPoints(in, contour).end)
        key = bucket_in(bins, bins.nearness.bin_of(in.points[i]), class_of(in, contour));
    }
    keys[i] = key, indices[i] = i;
  }
};

/// Notes where the list of each bin begins and ends. Called for each point that there is room for.
struct ListBins : Job {
  CONTORNO_HD void operator()(unsigned at) const {
    const unsigned none = bins.mask + 1, key = sorted_keys[at], i = order[at];
    if (key == none) return;
    const unsigned before = at > 0 ? sorted_keys[at - 1] : none + 1;
    const unsigned after = at + 1 < in.format.point_capacity ? sorted_keys[at + 1] : none;
    bins.points[at] = {in.points[i], i, part_of(in.offsets, contours_of(in), i)};
    if (before != key) bins.begins[key] = at;
    if (after != key) bins.ends[key] = at + 1;
    if (after == none) *bins.count = at + 1;
  }
};

// For kernels that look for near points -----------------------------------------------------------------
/// Divides the bins around points among the threads of a grid: calls look(place, first, step) for the bins
/// first, first + step, ... of `bins` around the point at a place. Where points are few, several threads
/// share the bins around each: to look at one takes several loads, each of which waits for the one before.
template <class Look>
__device__ __forceinline__ void for_bins_around(unsigned points, unsigned bins, const Look& look) {
  if (points == 0) return;
  const unsigned parts = min(max(all_threads() / points, 1U), bins);
  for (unsigned long long item = global_thread(); item < 1ULL * points * parts; item += all_threads()) {
    const auto at = static_cast<unsigned>(item);
    look(at % points, at / points, parts);
  }
}

}  // namespace contorno::device_bins_cuda
