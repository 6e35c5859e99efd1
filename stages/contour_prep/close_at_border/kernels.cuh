// The kernels of close_at_border. An end is a number: twice that of its contour, and 1 more where the contour
// begins. What is sorted and added up between them is that of the whole capacity; what is unused comes last.
//
//   find_ends      a key for every end on the border: its class, and where it lies
//   (sort)         ends along the border, class by class
//   count_open     1 where a contour ends, -1 where one begins
//   (sum)          how many are open before each end
//   find_depths    a key for every end: its class, and how many are open with it
//   (sort)         ends by depth; those of one depth stay in order, so that what belongs together is next
//   link_ends      which contour follows each one
//   find_rings     the rings
//   measure_rings  what each contour gives, as a word
//   write_rings    the contours
#pragma once

#include "geometry/ascending.h"
#include "stages/contour_prep/close_at_border/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::close_at_border_cuda {

inline constexpr unsigned kNone = ~0U;
inline constexpr int kDepthBits = 32;

/// One launch's arguments.
struct Job {
  PlacementView placement;
  MapBorder border;
  unsigned long long *keys = nullptr, *along = nullptr, *by_depth = nullptr;  ///< an end of the capacity
  unsigned *ends = nullptr, *ends_along = nullptr, *ends_by_depth = nullptr;  ///< in the order of these keys
  unsigned long long* open = nullptr;  ///< of each end along the border, and one more
  unsigned* next = nullptr;            ///< a contour, as what follows: what it is linked with, or kNone
  unsigned* first = nullptr;           ///< the first one of its ring; of others itself
  unsigned* before = nullptr;          ///< points of its ring before those that it adds
  unsigned* points = nullptr;          ///< of the ring whose first one it is; of others 0

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t ends_capacity = 2 * format.contour_capacity;
    for (auto** one : {&keys, &along, &by_depth}) take(*one, ends_capacity);
    for (auto** one : {&ends, &ends_along, &ends_by_depth}) take(*one, ends_capacity);
    take(open, ends_capacity + 1);
    for (auto** one : {&next, &first, &before, &points}) take(*one, format.contour_capacity);
  }
};

__device__ __forceinline__ bool begins(unsigned end) {
  return (end & 1U) != 0;
}
__device__ __forceinline__ unsigned ends_of(const Job& job) {
  return 2 * static_cast<unsigned>(job.placement.in.format.contour_capacity);
}
/// The key behind those of all classes.
__device__ __forceinline__ unsigned long long last_key(const Job& job, int bits) {
  return static_cast<unsigned long long>(job.placement.in.format.classes) << bits;
}
__global__ void __launch_bounds__(kArrayThreads) find_ends(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  const unsigned contours = contours_of(in), ends = ends_of(job);
  for (unsigned end = global_thread(); end < ends; end += all_threads()) {
    const unsigned contour = end / 2;
    unsigned long long key = last_key(job, kEndBits);
    if (contour < contours && has_ends(in, contour)) {
      const Point point = in.points[begins(end) ? in.offsets[contour] : in.offsets[contour + 1] - 1];
      const unsigned k = part_of(in.class_begin, static_cast<unsigned>(in.format.classes), contour);
      if (job.border.has(point))
        key = static_cast<unsigned long long>(k) << kEndBits | end_key(job.border, point, begins(end));
    }
    job.keys[end] = key;
    job.ends[end] = end;
    if (begins(end)) continue;
    job.next[contour] = kNone;
    job.first[contour] = contour;
    job.before[contour] = job.points[contour] = 0;
  }
}

__global__ void __launch_bounds__(kArrayThreads) count_open(const __grid_constant__ Job job) {
  const unsigned ends = ends_of(job);
  const unsigned long long last = last_key(job, kEndBits);
  for (unsigned i = global_thread(); i <= ends; i += all_threads())
    job.open[i] = i == ends || job.along[i] >= last ? 0ULL : begins(job.ends_along[i]) ? ~0ULL : 1ULL;
}

__global__ void __launch_bounds__(kArrayThreads) find_depths(const __grid_constant__ Job job) {
  const unsigned ends = ends_of(job);
  for (unsigned i = global_thread(); i < ends; i += all_threads()) {
    unsigned long long key = last_key(job, kDepthBits);
    if (job.along[i] < last_key(job, kEndBits)) {
      const auto depth = static_cast<unsigned>(job.open[i]) + (begins(job.ends_along[i]) ? 0U : 1U);
      key = job.along[i] >> kEndBits << kDepthBits | (depth ^ 0x80000000U);  // may be negative
    }
    job.keys[i] = key;
  }
}

/// Where in the order of depths the begin lies that the end at place `i` is linked with; `ends` if there is
/// none.
__device__ inline unsigned partner_of(const Job& job, unsigned i, unsigned ends) {
  const unsigned long long key = job.by_depth[i], k = key >> kDepthBits;
  if (i + 1 < ends && job.by_depth[i + 1] == key) return i + 1;
  // Once round; by then more may be open, where contours have only one end on the border.
  const unsigned long long more = job.open[lower_bound_of(job.along, ends, (k + 1) << kEndBits)] -
                                  job.open[lower_bound_of(job.along, ends, k << kEndBits)];
  const unsigned first = lower_bound_of(job.by_depth, ends, key - more);
  return first < ends && job.by_depth[first] == key - more && begins(job.ends_by_depth[first]) ? first : ends;
}

__global__ void __launch_bounds__(kArrayThreads) link_ends(const __grid_constant__ Job job) {
  const unsigned ends = ends_of(job);
  for (unsigned i = global_thread(); i < ends; i += all_threads()) {
    if (job.by_depth[i] >= last_key(job, kDepthBits) || begins(job.ends_by_depth[i])) continue;
    const unsigned partner = partner_of(job, i, ends);
    if (partner < ends) job.next[job.ends_by_depth[i] / 2] = job.ends_by_depth[partner] / 2;
  }
}

__global__ void __launch_bounds__(kArrayThreads) find_rings(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  const unsigned contours = contours_of(in);
  for (unsigned contour = global_thread(); contour < contours; contour += all_threads()) {
    // The ring is written by the thread of its lowest number: each goes on until it meets a lower one.
    unsigned at = job.next[contour];
    while (at != kNone && at > contour) at = job.next[at];
    if (at != contour) continue;
    unsigned points = 0;
    do {
      job.first[at] = contour;
      job.before[at] = points;
      points += RingPart(job.border, in, at, job.next[at]).stored();
      at = job.next[at];
    } while (at != contour);
    job.points[contour] = points + 1;  // the first one again
  }
}

__global__ void __launch_bounds__(kArrayThreads) measure_rings(const __grid_constant__ Job job) {
  measure_contours(job.placement, [&](unsigned contour) {
    if (job.first[contour] != contour) return 0ULL;
    return contour_word(job.points[contour] > 0 ? job.points[contour] : points_of(job.placement.in, contour));
  });
}

/// What stands behind the own points of a contour of a ring, from `to` on.
__device__ inline void write_corners(const Job& job, unsigned contour, const RingPart& part, Point* to) {
  const ContoursView& in = job.placement.in;
  for (unsigned i = 0; i < part.corners.count; ++i) *to++ = job.border.corner(part.corners.first + i);
  if (job.next[contour] == job.first[contour]) *to = in.points[in.offsets[job.next[contour]]];
}

__global__ void __launch_bounds__(kArrayThreads) write_rings(const __grid_constant__ Job job) {
  const ContoursView &in = job.placement.in, &out = job.placement.out;
  const SumsBefore sums(job.placement.sums, block_shared<RangeShared>());
  place_contours(job.placement, sums,
                 [&](unsigned contour) { return job.points[contour] > 0 || in.closed[contour] != 0; });
  const unsigned contours = contours_of(in);
  const unsigned long long points = in.fits() ? in.counts->points : 0;
  // Where the input did not fit, the output may not seem to fit either; the thread that has written counts.
  if (!in.fits() && global_thread() == 0)
    out.counts->points = max(static_cast<unsigned long long>(in.counts->points),
                             static_cast<unsigned long long>(out.format.point_capacity + 1));
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned contour = part_of(in.offsets, contours, i), number = i - in.offsets[contour];
    const unsigned ring = job.first[contour];
    Point* const to = out.points + points_in(sums[ring]) + job.before[contour];
    if (job.points[ring] == 0) {
      to[number] = in.points[i];
      continue;
    }
    const RingPart part(job.border, in, contour, job.next[contour]);
    if (number < part.points) to[number] = in.points[i];
    if (number == 0) write_corners(job, contour, part, to + part.points);
  }
}

}  // namespace contorno::close_at_border_cuda
