// The kernels of PointSelection. Between them CUB adds up: how many points and contours there are is known to
// the device alone, so it goes over the whole capacity, and what is unused counts as 0.
//
//   (scan)         rank of every kept point among all kept ones, from the flags
//   measure_kept   what is stored of every contour, as contours (0 or 1) and points in one word
//   (scan)         the words become places
//   place_kept     offsets, closed flags, begins of the classes, and counts
//   write_kept     the points
#pragma once

#include "stages/contour_prep/shared/point_selection.h"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::point_selection_cuda {

inline constexpr unsigned kThreads = 256;
/// Contours are counted above this bit, points below.
inline constexpr int kContourBit = 32;

/// One launch's arguments.
struct Job {
  ContoursView in, out;
  const std::uint8_t* keep = nullptr;  ///< a stored point
  /// How many points before each one are kept; one more than the points. Of repeated points without meaning.
  const unsigned* rank = nullptr;
  unsigned long long* words = nullptr;         ///< a contour of the capacity, and one more
  const unsigned long long* places = nullptr;  ///< the sums of the words before each contour
  unsigned* sources = nullptr;                 ///< which contour of `in` each one of `out` is what remains of
};

/// The flag of point i of the capacity, for the scan: 0 for what is not a point.
struct KeptFlag {
  ContoursView in;
  const std::uint8_t* keep = nullptr;
  __device__ __forceinline__ unsigned operator()(unsigned i) const {
    return in.fits() && i < in.counts->points && keep[i] != 0 ? 1 : 0;
  }
};

__device__ __forceinline__ unsigned points_of(const Job& job, unsigned contour) {
  return job.in.offsets[contour + 1] - job.in.offsets[contour];
}
/// The own points of contour `contour` that are kept.
__device__ __forceinline__ unsigned kept_of(const Job& job, unsigned contour) {
  const unsigned begin = job.in.offsets[contour];
  return job.rank[begin + own_points(points_of(job, contour), job.in.closed[contour] != 0)] - job.rank[begin];
}

__global__ void __launch_bounds__(kThreads) measure_kept(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.contour_capacity);
  const auto contours = job.in.fits() ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  for (unsigned i = global_thread(); i <= capacity; i += all_threads()) {
    const unsigned kept = i < contours ? kept_of(job, i) : 0;
    job.words[i] =
        kept > 0 ? 1ULL << kContourBit | stored_points(points_of(job, i), job.in.closed[i] != 0, kept) : 0ULL;
  }
}

__global__ void __launch_bounds__(kThreads) place_kept(const __grid_constant__ Job job) {
  const bool fits = job.in.fits();
  const auto contours = fits ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  for (unsigned i = global_thread(); i <= contours; i += all_threads()) {
    const unsigned long long word = job.places[i];
    const auto place = static_cast<unsigned>(word >> kContourBit);
    if (i == contours || job.words[i] != 0) job.out.offsets[place] = static_cast<unsigned>(word);
    if (i == contours) {
      *job.out.counts = fits ? ContourCounts{static_cast<unsigned>(word), place} : *job.in.counts;
    } else if (job.words[i] != 0) {
      job.out.closed[place] = stays_closed(points_of(job, i), job.in.closed[i] != 0, kept_of(job, i)) ? 1 : 0;
      job.sources[place] = i;
    }
  }
  for (unsigned k = global_thread(); k <= static_cast<unsigned>(job.in.format.classes); k += all_threads())
    job.out.class_begin[k] =
        fits ? static_cast<unsigned>(job.places[job.in.class_begin[k]] >> kContourBit) : 0;
}

__global__ void __launch_bounds__(kThreads) write_kept(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const auto points = static_cast<unsigned>(job.in.counts->points);
  const auto contours = static_cast<unsigned>(job.in.counts->contours);
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    if (job.keep[i] == 0) continue;
    const unsigned contour = part_of(job.in.offsets, contours, i), begin = job.in.offsets[contour];
    const unsigned stored = points_of(job, contour);
    const bool closed = job.in.closed[contour] != 0;
    if (i - begin >= own_points(stored, closed)) continue;
    const auto at = static_cast<unsigned>(job.places[contour]);
    const unsigned order = job.rank[i] - job.rank[begin], kept = kept_of(job, contour);
    job.out.points[at + order] = job.in.points[i];
    if (order == 0 && stored_points(stored, closed, kept) > kept)
      job.out.points[at + kept] = job.in.points[i];
  }
}

}  // namespace contorno::point_selection_cuda
