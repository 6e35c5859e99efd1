// The distances of contours for the kernels of order_nearest: by their points, by the boxes around them,
// which are never farther, and by samples of their points, which are never nearer. Distances are bits of
// squared ones as double: of numbers that are not negative, they have the order of the numbers.
#pragma once

#include "geometry/box.h"
#include "geometry/team.cuh"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::order_nearest_cuda {

inline constexpr unsigned long long kFar = 0x7FF0000000000000ULL;  // infinity
inline constexpr unsigned kNone = ~0U;
/// Up to so many contours, the distances of all pairs are measured before lists are made. A block makes the
/// list of one contour: with few contours most of the device would be idle, and the warps of each block would
/// compare one contour after the other.
inline constexpr unsigned kMostPaired = 128;
/// Up to so many bytes, the bits of what is visited lie in shared memory, where a step of the order is
/// faster: of 262,000 contours.
inline constexpr std::size_t kMostVisitedShared = 32 << 10;
/// How many others the list of a contour has, a lane each.
inline constexpr unsigned kListed = kWarpLanes;

/// The steps of a warp; all lanes have the same.
struct Steps {
  unsigned long long most = kMostOrdering, taken = 0;
  __device__ bool are_spent() const { return taken > most; }
};

/// One launch's arguments.
struct Job {
  ContoursView in;
  DrawingOrder order = DrawingOrder::Greedy;
  Box* boxes = nullptr;                     ///< a contour
  unsigned* lists = nullptr;                ///< kListed a contour: those nearest to it; only for `greedy`
  unsigned long long* distances = nullptr;  ///< of pairs (measure_pairs); only for `greedy`
  unsigned room_for_pairs = 0;              ///< contours; distances are measured where there are no more
  unsigned* left = nullptr;     ///< contours that are left, in any order; those of a class lie in its place
  unsigned* visited = nullptr;  ///< bits of contours, if they have no room in shared memory (Placed)
  unsigned* sorted = nullptr;   ///< the numbers of contours in their order
  unsigned* starts = nullptr;   ///< a contour: the own point with which it begins; not for `greedy`
  unsigned long long* listing = nullptr;   ///< the steps that all lists took
  unsigned long long* ordering = nullptr;  ///< the steps that the order took: a class
  unsigned long long most_listing = kMostListing, most_ordering = kMostOrdering;
  unsigned* refused = nullptr;  ///< page-locked: the contours of a class that takes more, 0: there is none

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    take(boxes, contours), take(left, contours), take(sorted, contours);
    take(listing, 1), take(ordering, static_cast<std::size_t>(format.classes));
    if (order != DrawingOrder::Greedy) {
      take(starts, contours);
    } else {
      room_for_pairs = static_cast<unsigned>(std::min<std::size_t>(contours, kMostPaired));
      take(lists, contours * kListed), take(distances, std::size_t{room_for_pairs} * room_for_pairs);
    }
    if (visited_bytes(format) > kMostVisitedShared) take(visited, visited_bytes(format) / sizeof(unsigned));
  }
  /// Bits of the classes, in whole words.
  static std::size_t visited_bytes(const ContoursFormat& format) {
    return (format.contour_capacity / 32 + static_cast<std::size_t>(format.classes) + 1) * sizeof(unsigned);
  }

  __device__ bool lists_are_spent() const { return *listing > most_listing; }
  __device__ unsigned* list_of(unsigned contour) const { return lists + std::size_t{contour} * kListed; }
};

__global__ void __launch_bounds__(kArrayThreads) bound_contours(const __grid_constant__ Job job) {
  if (global_thread() == 0) *job.listing = 0, *job.refused = 0;
  for_warps(contours_of(job.in), [&](unsigned contour) {
    const WarpTeam team;
    const OwnPoints own(job.in, contour);
    const Box box = box_of(team, own.points, own.count);
    if (team.is_first()) job.boxes[contour] = box;
  });
}

__device__ __forceinline__ unsigned long long least_of_warp(double squared) {
  return join_warp(bits_of(squared), [](unsigned long long a, unsigned long long b) { return min(a, b); });
}

/// Own points of a contour from one on, in the registers of a warp, which waits for memory once for all of
/// them.
class LanePoints {
 public:
  static constexpr unsigned kEach = 4, kMost = kEach * kWarpLanes;

  __device__ LanePoints(const OwnPoints& own, unsigned first) {
    constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
    for (unsigned k = 0; k < kEach; ++k) {
      const unsigned i = place(first, k);
      points_[k] = i < own.count ? own.points[i] : Point{kNoNumber, kNoNumber};
    }
  }
  /// The lane's own; NaN behind the last point.
  __device__ const Point& operator[](unsigned k) const { return points_[k]; }
  __device__ static unsigned place(unsigned first, unsigned k) {
    return first + k * kWarpLanes + warp_lane();
  }
  /// Lowers `nearest` to the squared distance of one of them.
  __device__ void compare(const Point& point, double& nearest) const {
    for (const Point& own : points_)
      if (const double squared = squared_distance(point, own); squared < nearest) nearest = squared;
  }

 private:
  Point points_[kEach];
};

/// The own point of a contour that is nearest to a point.
struct NearestPoint {
  unsigned long long distance = kFar;
  unsigned place = 0;
};
/// Finds it, at kFar where no point is at a finite distance. Called by a whole warp.
__device__ inline NearestPoint nearest_point(const OwnPoints& own, const Point& point, Steps& steps) {
  NearestPoint nearest;
  steps.taken += 1 + own.count / LanePoints::kMost;
  for (unsigned first = 0; first < own.count; first += LanePoints::kMost) {
    const LanePoints some(own, first);
    for (unsigned k = 0; k < LanePoints::kEach; ++k)
      if (const unsigned long long squared = bits_of(squared_distance(point, some[k]));
          squared < nearest.distance)
        nearest = {squared, LanePoints::place(first, k)};
  }
  const unsigned long long least =
      join_warp(nearest.distance, [](unsigned long long a, unsigned long long b) { return min(a, b); });
  const unsigned nearer = __ballot_sync(~0U, nearest.distance == least);
  return {least, __shfl_sync(~0U, nearest.place, __ffs(static_cast<int>(nearer)) - 1)};
}

/// The distance of two points of contours that is seldom far above the least one: from the first point of one
/// to the nearest of the other, from there back, and again. By a warp; neither contour is empty.
__device__ inline unsigned long long distance_along(const OwnPoints& longer, const OwnPoints& shorter,
                                                    Steps& steps) {
  const NearestPoint first = nearest_point(shorter, longer.points[0], steps);
  const NearestPoint back = nearest_point(longer, shorter.points[first.place], steps);
  return nearest_point(shorter, longer.points[back.place], steps).distance;
}

/// Lowers `nearest` to the least distance of what `own` has from the lanes' points that are not farther than
/// `most` from the box around all of the contour of `own`.
__device__ inline void compare_near(const LanePoints& own, const Point& point, const Box& around,
                                    unsigned long long most, double& nearest, Steps& steps) {
  Box box;
  box.add(point);
  unsigned open = __ballot_sync(~0U, bits_of(around.squared_distance(box)) <= most);
  steps.taken += 1U + static_cast<unsigned>(__popc(open));
  for (; open != 0; open &= open - 1) {
    const int source = __ffs(static_cast<int>(open)) - 1;
    own.compare({__shfl_sync(~0U, point.row, source), __shfl_sync(~0U, point.col, source)}, nearest);
  }
}

/// The least squared distance between points of two contours, by a warp; if it is above `most`, any number
/// above, and any number where the steps are spent.
__device__ inline unsigned long long distance_between(const Job& job, unsigned a, unsigned b,
                                                      unsigned long long most, Steps& steps) {
  const bool swaps = OwnPoints(job.in, a).count < OwnPoints(job.in, b).count;
  const OwnPoints longer(job.in, swaps ? b : a), shorter(job.in, swaps ? a : b);
  if (shorter.count == 0) return kFar;
  most = min(most, distance_along(longer, shorter, steps));
  const Box around = job.boxes[swaps ? a : b];
  double nearest = std::numeric_limits<double>::infinity();
  for (unsigned first = 0; first < shorter.count; first += LanePoints::kMost) {
    const LanePoints own(shorter, first);
    for (unsigned base = 0; base < longer.count && !steps.are_spent(); base += LanePoints::kMost) {
      const LanePoints others(longer, base);
      for (unsigned k = 0; k < LanePoints::kEach; ++k)
        compare_near(own, others[k], around, most, nearest, steps);
    }
  }
  return least_of_warp(nearest);
}

inline constexpr unsigned kSamples = 4;  // points of a contour that give a first bound

/// The least of some squared distances between two contours, by one thread; `part` of kSamples.
__device__ inline double sample_between(const Job& job, unsigned a, unsigned b, unsigned part) {
  const OwnPoints from(job.in, a), own(job.in, b);
  double least = std::numeric_limits<double>::infinity();
  if (own.count == 0 || from.count == 0) return least;
  const Point sample = own.points[1ULL * part * own.count / kSamples];
  for (unsigned i = 0; i < kSamples; ++i) {
    const double squared = squared_distance(sample, from.points[1ULL * i * from.count / kSamples]);
    if (squared < least) least = squared;
  }
  return least;
}

}  // namespace contorno::order_nearest_cuda
