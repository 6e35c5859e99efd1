// The kernels of hierarchy: a warp a contour in both, whose lanes share its points and what may be around it.
//
//   measure_boxes  box and area of every contour, and the list that it is in, as a key
//   (sort)         contours by lists
//   find_parents   what is around every contour: each lane finds the lists of a level that may have it
#pragma once

#include "geometry/ascending.h"
#include "geometry/contour_size.h"
#include "geometry/nesting.h"
#include "geometry/row_lists.h"
#include "geometry/team.cuh"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::hierarchy_cuda {

/// One launch's arguments. Arrays have an element a contour of the capacity.
struct Job {
  ContoursView out;
  nesting::NestRule rule;
  Box* boxes = nullptr;
  unsigned long long* areas = nullptr;  ///< areas of the contours, in the units of size_in_units
  unsigned long long none = 0;          ///< the key of contours that are around nothing: behind all lists
  unsigned long long *keys = nullptr, *sorted_keys = nullptr;
  unsigned *contours = nullptr, *sorted = nullptr;  ///< their numbers, in the order of the keys
  unsigned* parents = nullptr;   ///< what is written instead of attributes: see DeviceNest; null: attributes
  unsigned* too_many = nullptr;  ///< page-locked: 1 if more are around some contour than are tried, or else 0

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    take(boxes, format.contour_capacity), take(sorted, format.contour_capacity);
    for (auto** one : {&areas, &keys, &sorted_keys}) take(*one, format.contour_capacity);
  }
};

__device__ inline void measure_box(const Job& job, unsigned contour) {
  const ContoursView& out = job.out;
  const WarpTeam team;
  const std::uint64_t area = size_in_units(team, ContourSize::Area, out, contour);
  const Box box = box_of(team, out, contour);
  if (!team.is_first()) return;
  job.boxes[contour] = box;
  job.areas[contour] = area;
  const bool counts = area > 0 && job.rule.counts(contour);
  job.keys[contour] = counts ? row_lists::list_of(class_of(out, contour), box) : job.none;
}

__global__ void __launch_bounds__(kArrayThreads) measure_boxes(const __grid_constant__ Job job) {
  const unsigned contours = contours_of(job.out);
  const auto capacity = static_cast<unsigned>(job.out.format.contour_capacity);
  if (global_thread() == 0) *job.too_many = 0;
  for_warps(contours, [&](unsigned contour) { measure_box(job, contour); });
  for (unsigned i = global_thread(); i < capacity; i += all_threads()) {
    if (i >= contours) job.keys[i] = job.none;
    job.contours[i] = i;
  }
}

/// Whether the place is inside of a contour; all lanes try its segments.
__device__ inline bool is_inside(const Job& job, const Place& place, unsigned contour) {
  const unsigned points = points_of(job.out, contour);
  const Point* const point = job.out.points + job.out.offsets[contour];
  bool inside = false;
  for (unsigned i = warp_lane() + 1; i < points; i += kWarpLanes)
    if (crosses(place, point[i - 1], point[i])) inside = !inside;
  return __popc(__ballot_sync(~0U, inside)) % 2 != 0;
}

/// Adds those of the contours at [begin, end) of the order that enclose more than `contour`, and for whose
/// boxes `may_have` and which themselves `have` a place.
template <class MayHave, class Have>
__device__ inline void add_listed(const Job& job, unsigned contour, unsigned begin, unsigned end,
                                  const MayHave& may_have, const Have& have, nesting::Around& found) {
  const unsigned lane = warp_lane();
  for (unsigned first = begin; first < end; first += kWarpLanes) {
    const unsigned other = first + lane < end ? job.sorted[first + lane] : contour;
    unsigned likely = __ballot_sync(~0U, job.areas[other] > job.areas[contour] && may_have(job.boxes[other]));
    found.tried += static_cast<unsigned>(__popc(likely));
    if (found.is_too_many()) return;
    for (; likely != 0; likely &= likely - 1) {
      const unsigned one = job.sorted[first + static_cast<unsigned>(__ffs(static_cast<int>(likely))) - 1];
      if (have(one)) found.add(one, job.areas[one]);
    }
  }
}

/// add_listed for all lists that may have boxes with a row from `top` to `bottom`.
template <class MayHave, class Have>
__device__ inline void add_larger(const Job& job, unsigned contour, double top, double bottom,
                                  const MayHave& may_have, const Have& have, nesting::Around& found) {
  const auto level = static_cast<int>(warp_lane());
  unsigned begin = 0, end = 0;
  if (level < row_lists::kLevels) {
    const row_lists::Lists lists(job.rule.class_around(class_of(job.out, contour)), level, top, bottom);
    const unsigned listed = contours_of(job.out);
    begin = lower_bound_of(job.sorted_keys, listed, lists.first);
    end = lower_bound_of(job.sorted_keys, listed, lists.last + 1);
  }
  unsigned levels = __ballot_sync(~0U, begin < end);
  for (; levels != 0; levels &= levels - 1) {
    const int lane = __ffs(static_cast<int>(levels)) - 1;
    add_listed(job, contour, __shfl_sync(~0U, begin, lane), __shfl_sync(~0U, end, lane), may_have, have,
               found);
  }
}

__device__ inline nesting::Around around(const Job& job, unsigned contour) {
  nesting::Around found;
  const unsigned points = points_of(job.out, contour);
  if (points == 0) return found;
  const Place place = nesting::place_of(job.out.points + job.out.offsets[contour], points);
  add_larger(
      job, contour, place.row, place.row, [&](const Box& box) { return box.has(place); },
      [&](unsigned one) { return is_inside(job, place, one); }, found);
  const double reach = job.rule.reach;
  if (found.depth > 0 || !(reach >= 0)) return found;
  const Place middle = nesting::middle_of(job.boxes[contour]);
  add_larger(
      job, contour, middle.row - reach, middle.row + reach,
      [&](const Box& box) { return job.rule.is_beside(box, middle); }, [](unsigned) { return true; }, found);
  return found;
}

__global__ void __launch_bounds__(kArrayThreads) find_parents(const __grid_constant__ Job job) {
  for_warps(contours_of(job.out), [&](unsigned contour) {
    const nesting::Around found = around(job, contour);
    if (warp_lane() != 0) return;
    if (found.is_too_many()) *job.too_many = 1;
    if (job.parents != nullptr)
      job.parents[contour] = found.parent_or_none();
    else
      nesting::write(job.out, contour, found);
  });
}

}  // namespace contorno::hierarchy_cuda
