// The kernels of measure_map, for what DeviceNest has found to lie in what. Between them the crossings are
// sorted.
//
//   begin_crossings   no crossings yet
//   write_crossings   those of every contour, to its region and to that of its parent: a warp a contour
//   (sort)            crossings by contours, rows and columns: two and two are the ends of a span of samples
//   measure_spans     sums over the samples of every span: kSpanLanes threads a span
//   measure_regions   sums over the spans of every contour, and its attributes: a warp a contour
#pragma once

#include "geometry/ascending.h"
#include "geometry/nesting.h"
#include "geometry/team.cuh"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::measure_map_cuda {

using namespace map_measuring;

/// One launch's arguments.
struct Job {
  ContoursView out;
  MapPlanes planes;
  CrossingKeys form;
  unsigned* parents = nullptr;  ///< of each contour; kNoParent of those that lie in none
  /// Of each contour of the capacity: whether it has a region, as one that crosses no row has not.
  unsigned char* has_region = nullptr;
  unsigned long long room = 0;                            ///< for crossings
  unsigned long long none = 0;                            ///< the key of no crossing, behind all others
  unsigned long long* count = nullptr;                    ///< of crossings
  unsigned long long *keys = nullptr, *sorted = nullptr;  ///< `room` of them
  SampleSums* spans = nullptr;                            ///< room / 2
  unsigned long long* needed = nullptr;                   ///< page-locked: `count` for the host

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    take(parents, format.contour_capacity), take(has_region, format.contour_capacity), take(count, 1);
    take(keys, room), take(sorted, room), take(spans, room / 2);
  }
};

/// Calls use(a, b) with a segment of a contour in each lane, or with none (null), until all have been.
template <class Use>
__device__ __forceinline__ void for_segments(const ContoursView& contours, unsigned contour, const Use& use) {
  const unsigned points = points_of(contours, contour);
  const Point* const point = contours.points + contours.offsets[contour];
  for (unsigned first = 1; first < points; first += kWarpLanes) {
    const unsigned i = first + warp_lane();
    use(i < points ? point + i - 1 : nullptr);
  }
}

__device__ __forceinline__ unsigned crossed_rows(const Job& job, const Point* segment) {
  return segment != nullptr ? CrossedRows(segment[0], segment[1], job.planes.first.height).count() : 0U;
}

__device__ inline bool has_region(const Job& job, unsigned contour) {
  if (job.out.closed[contour] == 0) return false;
  bool finite = true, crosses = false;
  for_segments(job.out, contour, [&](const Point* segment) {
    if (segment == nullptr) return;
    const bool known = is_finite(segment[0]) && is_finite(segment[1]);
    finite = finite && known;
    crosses = crosses || (known && crossed_rows(job, segment) > 0);
  });
  return __ballot_sync(~0U, finite) == ~0U && __ballot_sync(~0U, crosses) != 0;
}

__global__ void __launch_bounds__(kArrayThreads) begin_crossings(const __grid_constant__ Job job) {
  if (global_thread() == 0) *job.count = 0;
  for (unsigned long long i = global_thread(); i < job.room; i += all_threads()) job.keys[i] = job.none;
  for_warps(contours_of(job.out), [&](unsigned contour) {
    const bool has = has_region(job, contour);
    if (warp_lane() == 0) job.has_region[contour] = has ? 1 : 0;
  });
}

/// Where each lane writes `count` numbers, behind those of the lanes before, in an array with room for
/// `job.room`.
__device__ inline unsigned long long place_of_lane(const Job& job, unsigned count) {
  unsigned all = 0;
  const unsigned before = sum_before_lane(count, all);
  unsigned long long first = 0;
  if (warp_lane() == 0) first = atomicAdd(job.count, static_cast<unsigned long long>(all));
  return __shfl_sync(~0U, first, 0) + before;
}

__global__ void __launch_bounds__(kArrayThreads) write_crossings(const __grid_constant__ Job job) {
  for_warps(contours_of(job.out), [&](unsigned contour) {
    if (job.has_region[contour] == 0) return;
    const unsigned parent = job.parents[contour];
    const bool is_in_region = parent != nesting::kNoParent && job.has_region[parent] != 0;
    for_segments(job.out, contour, [&](const Point* segment) {
      const unsigned rows = crossed_rows(job, segment);
      unsigned long long at = place_of_lane(job, is_in_region ? 2 * rows : rows);
      if (rows == 0) return;
      const CrossedRows crossed(segment[0], segment[1], job.planes.first.height);
      for (int row = crossed.first; row < crossed.last; ++row) {
        if (at < job.room) job.keys[at] = job.form.key(contour, row, segment[0], segment[1]);
        ++at;
        if (!is_in_region) continue;
        if (at < job.room) job.keys[at] = job.form.key(parent, row, segment[0], segment[1]);
        ++at;
      }
    });
  });
}

/// How many crossings may be read: none where they did not fit.
__device__ __forceinline__ unsigned long long crossings_of(const Job& job) {
  return *job.count <= job.room ? *job.count : 0ULL;
}

template <class T>
__global__ void __launch_bounds__(kArrayThreads) measure_spans(const __grid_constant__ Job job) {
  const unsigned long long spans = crossings_of(job) / 2;
  const auto classes = static_cast<unsigned>(job.out.format.classes);
  constexpr unsigned kSpansOfWarp = kWarpLanes / kSpanLanes;
  const unsigned lane = warp_lane() % kSpanLanes;
  for (unsigned long long first = 1ULL * (global_thread() / kWarpLanes) * kSpansOfWarp; first < spans;
       first += 1ULL * (all_threads() / kWarpLanes) * kSpansOfWarp) {
    const unsigned long long span = first + warp_lane() / kSpanLanes;
    SampleSums sums;
    if (span < spans) {
      const unsigned long long from = job.sorted[2 * span], to = job.sorted[2 * span + 1];
      const unsigned of_class = part_of(job.out.class_begin, classes, job.form.contour(from));
      for (int col = job.form.col(from) + static_cast<int>(lane); col < job.form.col(to);
           col += static_cast<int>(kSpanLanes))
        sums.add(job.planes.at<T>(of_class, job.form.row(from), col));
    }
    for (unsigned step = kSpanLanes / 2; step > 0; step /= 2) sums.add(of_other_lane(sums, step));
    if (span < spans && lane == 0) job.spans[span] = sums;
  }
}

/// How many of the sorted crossings are less than `key`.
__device__ inline unsigned long long crossings_before(const Job& job, unsigned long long key) {
  return lower_bound_of(job.sorted, crossings_of(job), key);
}

__global__ void __launch_bounds__(kArrayThreads) measure_regions(const __grid_constant__ Job job) {
  if (global_thread() == 0) *job.needed = *job.count;
  for_warps(contours_of(job.out), [&](unsigned contour) {
    const unsigned long long begin = crossings_before(job, job.form.first(contour)) / 2;
    const unsigned long long end = crossings_before(job, job.form.first(contour + 1ULL)) / 2;
    const WarpTeam team;
    const auto sums = team.sum<SampleSums>(
        end - begin, [&](SampleSums& lane, unsigned long long i) { lane.add(job.spans[begin + i]); });
    if (team.is_first()) write(job.out, contour, sums);
  });
}

}  // namespace contorno::measure_map_cuda
