// The kernel list_near of drop_duplicates: the earlier points of its class near every point, as far as they
// are few. It searches all bins around all points at once, so that deciding, which goes from point to point,
// need not search. Frames of more than kMostListed points keep the device busy without that, and a search
// that knows verdicts ends earlier: for them no lists are made.
#pragma once

#include "stages/contour_prep/drop_duplicates/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/bin_lookup.cuh"

namespace contorno::drop_duplicates_cuda {

inline constexpr unsigned kChunk = 32;
/// How many points a list can have, and of how many points there are lists.
inline constexpr unsigned kMostNear = 8, kMostListed = 32768;

/// One launch's arguments.
struct Job {
  ContoursView in;
  DeviceBinsView bins;
  // Only for kept_earlier.
  DeviceWords zeroed;  ///< what is 0 at first: all that follows but the lists
  std::size_t chunks = 0;
  /// A chunk: which of its points are decided in the high bits, which of these are kept in the low ones.
  unsigned long long* verdicts = nullptr;
  unsigned* next_chunk = nullptr;
  /// near_counts[i]: how many earlier points are near point i; above kMostNear its list is not complete, and
  /// not used. Entry k of its list is near_lists[k * room_for_lists + i], so that neighbouring threads read
  /// neighbouring words.
  unsigned *near_counts = nullptr, *near_lists = nullptr;
  unsigned room_for_lists = 0;   ///< points; lists are made where there are no more
  std::uint8_t* keep = nullptr;  ///< the flags for DeviceSelection

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    room_for_lists = static_cast<unsigned>(std::min<std::uint64_t>(format.point_capacity, kMostListed));
    chunks = (format.point_capacity + kChunk - 1) / kChunk;
    zeroed.count = 2 * chunks + room_for_lists + 1;
    take(zeroed.words, zeroed.count), take(near_lists, std::size_t{kMostNear} * room_for_lists);
  }
  /// Divides `zeroed` among what it is for.
  void lay_zeroed() {
    verdicts = reinterpret_cast<unsigned long long*>(zeroed.words);
    near_counts = zeroed.words + 2 * chunks, next_chunk = near_counts + room_for_lists;
  }

  __device__ bool has_lists() const { return in.counts->points <= room_for_lists; }
  __device__ unsigned& near_of(unsigned point, unsigned number) const {
    return near_lists[number * room_for_lists + point];
  }
};

/// A point that is looked at, and the first point of its class.
struct Candidate {
  Point point;
  unsigned index = 0, of_class = 0, class_first = 0;
  bool is_point = false;  ///< else there is none
};
__device__ __forceinline__ Candidate candidate_of(const ContoursView& in, unsigned contour, unsigned index) {
  const unsigned k = device_bins_cuda::class_of(in, contour);
  return {in.points[index], index, k, in.offsets[in.class_begin[k]], true};
}

/// Lists the points of a bin. A list that gets too long is not complete, nor is it needed.
__device__ inline void list_bin(const Job& job, const Candidate& candidate, const Bin& bin) {
  constexpr unsigned kMostLooks = 64;  // where points crowd together, a search that knows verdicts is faster
  const DeviceBinsView& bins = job.bins;
  const unsigned bucket = device_bins_cuda::bucket_in(bins, bin, candidate.of_class);
  const unsigned begin = bins.begins[bucket], end = bins.ends[bucket];
  for (unsigned at = begin; at < end; ++at) {
    const BinnedPoint other = bins.points[at];
    if (other.index >= candidate.index) return;
    if (at - begin == kMostLooks) {
      atomicAdd(&job.near_counts[candidate.index], kMostNear + 1);
      return;
    }
    if (other.index < candidate.class_first || !bins.nearness(other.point, candidate.point)) continue;
    const unsigned number = atomicAdd(&job.near_counts[candidate.index], 1U);
    if (number >= kMostNear) return;
    job.near_of(candidate.index, number) = other.index;
  }
}

__global__ void __launch_bounds__(kArrayThreads) list_near(const __grid_constant__ Job job) {
  if (!job.in.fits() || !job.has_lists()) return;
  const DeviceBinsView& bins = job.bins;
  constexpr unsigned kBins = kBinsAround + 1;
  device_bins_cuda::for_bins_around(*bins.count, kBins, [&](unsigned place, unsigned first, unsigned step) {
    const BinnedPoint& point = bins.points[place];
    const Candidate candidate = candidate_of(job.in, point.contour, point.index);
    const Bin own = bins.nearness.bin_of(point.point);
    for (unsigned k = first; k < kBins; k += step) {
      const auto number = static_cast<int>(k);
      if (BinsAround::reaches(bins.nearness, point.point, own, number))
        list_bin(job, candidate, bin_around(own, number));
    }
  });
}

}  // namespace contorno::drop_duplicates_cuda
