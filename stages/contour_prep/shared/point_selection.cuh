// The kernels of PointSelection.
//
//   count_kept    which of every 32 points are kept, and how many
//   (sum)         how many are kept before
//   measure_kept  what is stored of every contour, as a word
//   (sum)         words become places
//   write_kept    the contours
#pragma once

#include "stages/contour_prep/shared/placement.cuh"
#include "stages/contour_prep/shared/point_selection.h"
#include "stages/shared/part_of.cuh"

namespace contorno::point_selection_cuda {

/// One launch's arguments.
struct Job {
  PlacementView placement;
  const std::uint8_t* keep = nullptr;  ///< a stored point
  // For every 32 points of the capacity, and for one more:
  unsigned* kept = nullptr;              ///< which are kept, as bits; of repeated points without meaning
  unsigned long long* before = nullptr;  ///< how many; then, how many before them
};

__global__ void __launch_bounds__(kArrayThreads) count_kept(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  const unsigned long long points = in.fits() ? in.counts->points : 0, last = in.format.point_capacity / 32;
  const unsigned lane = threadIdx.x % 32;
  for (unsigned long long chunk = global_thread() / 32; chunk <= last; chunk += all_threads() / 32) {
    const unsigned long long i = 32 * chunk + lane;
    const unsigned kept = __ballot_sync(~0U, i < points && job.keep[i] != 0);
    if (lane == 0) job.kept[chunk] = kept, job.before[chunk] = static_cast<unsigned>(__popc(kept));
  }
}

/// How many points before point i are kept, repeated ones among them; i is a point or the end of the last
/// one.
__device__ __forceinline__ unsigned rank_of(const Job& job, unsigned i) {
  return static_cast<unsigned>(job.before[i / 32]) +
         static_cast<unsigned>(__popc(job.kept[i / 32] & ((1U << i % 32) - 1)));
}
/// The own points of a contour that are kept.
__device__ __forceinline__ unsigned kept_of(const Job& job, unsigned contour) {
  const OwnPoints own(job.placement.in, contour);
  return rank_of(job, own.end) - rank_of(job, own.begin);
}

__global__ void __launch_bounds__(kArrayThreads) measure_kept(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  measure_contours(job.placement, [&](unsigned i) {
    const unsigned kept = kept_of(job, i);
    return kept > 0 ? contour_word(stored_points(points_of(in, i), in.closed[i] != 0, kept)) : 0ULL;
  });
}

__global__ void __launch_bounds__(kArrayThreads) write_kept(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  place_contours(job.placement, [&](unsigned contour) {
    return stays_closed(points_of(in, contour), in.closed[contour] != 0, kept_of(job, contour));
  });
  const unsigned contours = contours_of(in);
  const unsigned long long points = contours > 0 ? in.counts->points : 0;
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    if ((job.kept[i / 32] >> i % 32 & 1) == 0) continue;
    const unsigned contour = part_of(in.offsets, contours, i);
    const OwnPoints own(in, contour);
    if (i >= own.end) continue;
    const unsigned at = points_in(job.placement.words[contour]);
    const unsigned order = rank_of(job, i) - rank_of(job, own.begin), kept = kept_of(job, contour);
    job.placement.out.points[at + order] = in.points[i];
    if (order == 0 && stored_points(points_of(in, contour), own.closed, kept) > kept)
      job.placement.out.points[at + kept] = in.points[i];
  }
}

}  // namespace contorno::point_selection_cuda
