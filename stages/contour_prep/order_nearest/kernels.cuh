// The kernels of order_nearest; ContourOrder comes behind them.
//
//   bound_contours  the box of every contour, a warp each
//   order_contours  the order of the contours of a class, by one block: by `greedy`
//   order_ends      the same by the ends of contours, and where each one begins
//   shorten_ways    only for `2opt` (two_opt.cuh)
//
// Which contour comes next depends on the one before, so that a class is ordered step by step. A step goes
// over the contours that are left twice: over a few points of each, which give a distance that the nearest
// contour does not exceed, and over the boxes that are not farther, whose contours are compared by their
// points.
#pragma once

#include "stages/contour_prep/order_nearest/pen.h"
#include "stages/contour_prep/shared/box.cuh"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::order_nearest_cuda {

inline constexpr unsigned kOrderThreads = 1024;

/// One launch's arguments.
struct Job {
  ContoursView in;
  Box* boxes = nullptr;        ///< a contour
  unsigned* left = nullptr;    ///< of each class, in its place: the contours that are left, in any order
  unsigned* sorted = nullptr;  ///< the numbers of contours in their order
  unsigned* starts = nullptr;  ///< a contour: the own point with which it begins; not for order_contours
};

/// What a block shares. Distances are bits of squared ones as double: of numbers that are not negative, they
/// have the order of the numbers.
struct Step {
  unsigned long long bound;    ///< at least the distance of the nearest contour
  unsigned long long nearest;  ///< its distance
  unsigned contour, place;     ///< what comes next, and where it lies in `left`
  unsigned start;              ///< the own point with which it begins
};

inline constexpr unsigned long long kFar = 0x7FF0000000000000ULL;  // infinity
inline constexpr unsigned kNone = ~0U;

__global__ void __launch_bounds__(kArrayThreads) bound_contours(const __grid_constant__ Job job) {
  for_warps(contours_of(job.in), [&](unsigned contour) {
    const OwnPoints own(job.in, contour);
    Box box;
    for (unsigned i = warp_lane(); i < own.count; i += kWarpLanes) box.add(own.points[i]);
    box = box_of_warp(box);
    if (warp_lane() == 0) job.boxes[contour] = box;
  });
}

__device__ __forceinline__ unsigned long long least_of_warp(double squared) {
  return join_warp(bits_of(squared), [](unsigned long long a, unsigned long long b) { return min(a, b); });
}

/// The least squared distance between points of two contours, by a warp; if it is above `most`, any number
/// above.
__device__ inline unsigned long long distance_between(const Job& job, unsigned a, unsigned b,
                                                      unsigned long long most) {
  const bool swaps = OwnPoints(job.in, a).count < OwnPoints(job.in, b).count;
  const OwnPoints longer(job.in, swaps ? b : a), shorter(job.in, swaps ? a : b);
  const Box around = job.boxes[swaps ? a : b];
  const unsigned lane = warp_lane();
  double nearest = std::numeric_limits<double>::infinity();
  for (unsigned base = 0; base < longer.count; base += kWarpLanes) {
    const bool has_point = base + lane < longer.count;
    const Point point = has_point ? longer.points[base + lane] : Point{};
    Box own;
    own.add(point);
    // Of the longer contour only what is near the other one's box is compared, point by point.
    for (unsigned open = __ballot_sync(~0U, has_point && bits_of(around.squared_distance(own)) <= most);
         open != 0; open &= open - 1) {
      const int source = __ffs(static_cast<int>(open)) - 1;
      const Point one{__shfl_sync(~0U, point.row, source), __shfl_sync(~0U, point.col, source)};
      for (unsigned k = lane; k < shorter.count; k += kWarpLanes) {
        const double squared = squared_distance(one, shorter.points[k]);
        if (squared < nearest) nearest = squared;
      }
    }
  }
  return least_of_warp(nearest);
}

inline constexpr unsigned kSamples = 4;  // points of a contour that give a first bound

/// What the next contour is near to: any point of the contour that was drawn, from any point of others.
/// Functions with `step` are called by all threads of a block.
struct FromContour {
  const Job& job;
  unsigned contour = 0;

  __device__ void draw(unsigned current, const Step&) { contour = current; }
  __device__ void find_start(Step&) const {}
  __device__ Box box() const { return job.boxes[contour]; }
  /// The least of some squared distances to a contour; `part` of kSamples.
  __device__ double sample(unsigned to, unsigned part) const {
    const OwnPoints from(job.in, contour), own(job.in, to);
    double least = std::numeric_limits<double>::infinity();
    if (own.count == 0 || from.count == 0) return least;
    const Point sample = own.points[1ULL * part * own.count / kSamples];
    for (unsigned i = 0; i < kSamples; ++i) {
      const double squared = squared_distance(sample, from.points[1ULL * i * from.count / kSamples]);
      if (squared < least) least = squared;
    }
    return least;
  }
  /// The least one of all, by a warp; if it is above `most`, any number above.
  __device__ unsigned long long distance(unsigned to, unsigned long long most) const {
    return distance_between(job, contour, to, most);
  }
};

/// Where the pen lies, from where it may set down on others.
struct FromPen {
  const Job& job;
  Point pen{};
  bool has_drawn = false;

  __device__ void draw(unsigned current, const Step& step) {
    const OwnPoints own(job.in, current);
    const unsigned start = has_drawn ? step.start : 0;
    if (threadIdx.x == 0) job.starts[current] = start;
    if (own.count > 0 || !has_drawn) pen = pen_up(own, start);
    has_drawn = true;
  }
  /// The first of the nearest ones.
  __device__ void find_start(Step& step) const {
    const bool is_far = step.nearest == kFar;
    if (threadIdx.x == 0) step.start = is_far ? 0 : kNone;
    __syncthreads();
    const OwnPoints own(job.in, step.contour);
    for (unsigned i = threadIdx.x; !is_far && i < start_count(own); i += blockDim.x)
      if (bits_of(squared_distance(pen, own.points[start_of(own, i)])) == step.nearest)
        atomicMin(&step.start, start_of(own, i));
    __syncthreads();
  }
  __device__ Box box() const {
    Box box;
    box.add(pen);
    return box;
  }
  __device__ double sample(unsigned to, unsigned part) const {
    const OwnPoints own(job.in, to);
    const unsigned starts = start_count(own);
    if (starts == 0) return std::numeric_limits<double>::infinity();
    return squared_distance(
        pen, own.points[start_of(own, static_cast<unsigned>(1ULL * part * starts / kSamples))]);
  }
  __device__ unsigned long long distance(unsigned to, unsigned long long) const {
    const OwnPoints own(job.in, to);
    double nearest = std::numeric_limits<double>::infinity();
    for (unsigned i = warp_lane(); i < start_count(own); i += kWarpLanes) {
      const double squared = squared_distance(pen, own.points[start_of(own, i)]);
      if (squared < nearest) nearest = squared;
    }
    return least_of_warp(nearest);
  }
};

/// The nearest contour that a warp has found: the least distance, of several the least number.
struct Found {
  unsigned long long distance = kFar;
  unsigned contour = kNone, place = 0;
};

/// The contours of a class while they are ordered; the functions are called by all threads of a block.
template <class From>
struct Class {
  const Job& job;
  unsigned* left;
  unsigned count;  ///< of `left`
  const From& from;

  __device__ unsigned long long box_distance(const Box& box, unsigned place) const {
    return place < count ? bits_of(box.squared_distance(job.boxes[left[place]])) : kFar;
  }

  /// Lowers `bound` to a distance at which there is a contour.
  __device__ void find_bound(unsigned long long& bound) const {
    unsigned long long least = kFar;
    for (unsigned pair = threadIdx.x; pair / kSamples < count; pair += blockDim.x) {
      const double squared = from.sample(left[pair / kSamples], pair % kSamples);
      if (squared < std::numeric_limits<double>::infinity()) least = min(least, bits_of(squared));
    }
    if (least < kFar) atomicMin(&bound, least);
  }

  /// What a warp finds among its contours with boxes not farther than `most`.
  __device__ Found compare(unsigned long long most) const {
    const Box box = from.box();
    const unsigned lane = warp_lane();
    Found found;
    for (unsigned base = threadIdx.x - lane; base < count; base += blockDim.x) {
      const unsigned long long distance = box_distance(box, base + lane);
      for (unsigned open = __ballot_sync(~0U, distance < kFar && distance <= most); open != 0;
           open &= open - 1) {
        const int source = __ffs(static_cast<int>(open)) - 1;
        most = min(most, found.distance);
        if (__shfl_sync(~0U, distance, source) > most) continue;
        const unsigned place = base + static_cast<unsigned>(source), contour = left[place];
        const unsigned long long between = from.distance(contour, most);
        if (between < found.distance || (between == found.distance && contour < found.contour))
          found = {between, contour, place};
      }
    }
    return found;
  }

  /// Leaves in `step` what follows.
  __device__ void find_next(Step& step) const {
    if (threadIdx.x == 0) step = {kFar, kFar, kNone, 0, 0};
    __syncthreads();
    find_bound(step.bound);
    __syncthreads();
    const bool leads = warp_lane() == 0;
    const Found found = compare(step.bound);
    if (leads) atomicMin(&step.nearest, found.distance);
    __syncthreads();
    // Of several the first; where none is at a finite distance, the first that is left.
    const bool is_far = step.nearest == kFar;
    if (leads && !is_far && found.distance == step.nearest) atomicMin(&step.contour, found.contour);
    if (is_far)
      for (unsigned place = threadIdx.x; place < count; place += blockDim.x)
        atomicMin(&step.contour, left[place]);
    __syncthreads();
    if (leads && !is_far && found.contour == step.contour) step.place = found.place;
    if (is_far)
      for (unsigned place = threadIdx.x; place < count; place += blockDim.x)
        if (left[place] == step.contour) step.place = place;
    __syncthreads();
  }
};

/// Orders the classes of this block.
template <class From>
__device__ inline void order_classes(const Job& job) {
  if (!job.in.fits()) return;
  Step& step = block_shared<Step>();
  for (auto k = static_cast<int>(blockIdx.x); k < job.in.format.classes; k += static_cast<int>(gridDim.x)) {
    const unsigned first = job.in.class_begin[k], contours = job.in.class_begin[k + 1] - first;
    unsigned* const left = job.left + first;
    for (unsigned i = threadIdx.x; i < contours; i += blockDim.x) left[i] = first + i;
    unsigned current = first, place = 0;
    From from{job};
    for (unsigned count = contours; count > 0;) {
      __syncthreads();
      // The last one that is left takes the place of the one that comes now.
      --count;
      if (threadIdx.x == 0) {
        job.sorted[first + contours - 1 - count] = current;
        left[place] = left[count];
      }
      from.draw(current, step);
      __syncthreads();
      if (count == 0) break;
      Class<From>{job, left, count, from}.find_next(step);
      from.find_start(step);
      current = step.contour, place = step.place;
    }
  }
}

__global__ void __launch_bounds__(kOrderThreads) order_contours(const __grid_constant__ Job job) {
  order_classes<FromContour>(job);
}

__global__ void __launch_bounds__(kOrderThreads) order_ends(const __grid_constant__ Job job) {
  order_classes<FromPen>(job);
}

}  // namespace contorno::order_nearest_cuda
