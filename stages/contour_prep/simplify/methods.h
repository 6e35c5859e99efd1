// The methods of simplify: steps that work on one contour at a time.
#pragma once

#include "stages/contour_prep/shared/per_contour.h"
#include "stages/contour_prep/simplify/farthest.h"
#include "stages/contour_prep/simplify/stage.h"

namespace contorno {

// Douglas-Peucker, a contour at a time, without recursion and without allocating: by one thread of the host
// (douglas_peucker.cpp), or by a block of a device (douglas_peucker.cuh).

/// A point that was kept, for the choice within a budget.
struct RankedPoint {
  std::uint64_t importance = 0;
  std::uint32_t at = 0;
};

/// What the threads of a block tell each other.
struct SplitShared {
  unsigned shorts[2], longs[2];  ///< intervals of this round and the next: at the begin and end of their list
  unsigned histogram[256];
  unsigned kept;
  unsigned long long looks;  ///< points that were looked at, in all rounds
  // The choice of the budget: the bits of the least importance that are known, and how many points that have
  // them are chosen.
  unsigned long long least;
  unsigned left;
};

/// Arrays have an element a point; those of a contour lie where its points lie.
struct DouglasPeucker {
  using Params = SimplifyParams;
  static constexpr const char* kName = "simplify";
  static constexpr Gives kGives = Gives::Marks;
  /// Small blocks, of which many contours have one at the same time, and for long contours blocks as large as
  /// can be.
  static constexpr ContourTeams kTeams{.few = 128, .many = 1024, .long_from = 2048};
  static constexpr std::size_t kRoom = sizeof(SplitShared);

  explicit DouglasPeucker(const SimplifyParams& params);

  /// Says that a contour of so many points takes a device more work than is allowed. Throws Error(BadData).
  [[noreturn]] static void throw_too_much_work(std::uint32_t points);

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t points = format.point_capacity;
    if (take.on_host()) {
      if (limits.points > 0) take(ranked, points);
      take(boxes, PointBlocks::boxes_for(points));
    } else {
      take(intervals, points);
      if (limits.points > 0) take(importance, points);
    }
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const OwnPoints& own, std::uint8_t* keep) const {
    mark(team, *this, own, keep);
  }

  SimplifyLimits limits;
  // On the host.
  FarthestBetween farthest;
  RankedPoint* ranked = nullptr;  ///< only with a budget
  Box* boxes = nullptr;           ///< those of PointBlocks
  // On a device.
  Interval* intervals = nullptr;             ///< of this round and of the next one, half of the points each
  unsigned long long* importance = nullptr;  ///< only with a budget
  WorkLimit work;
};

/// Marks the points of a contour that stay.
void mark(const OneThread& team, const DouglasPeucker& step, const OwnPoints& own, std::uint8_t* keep);

// Visvalingam-Whyatt, a contour at a time, without allocating: by one thread of the host (visvalingam.cpp),
// or by a warp of a device (visvalingam.cuh).

/// A point while others are removed: its neighbours, and where the heap has it.
struct VisvalingamPoint {
  std::uint32_t before = 0, after = 0, place = 0;
};

/// A point that may be removed. The one with the smallest area goes first; of equal areas the first point.
struct VisvalingamArea {
  std::uint64_t area = 0;  ///< the bits of twice that of the triangle with its neighbours
  std::uint32_t at = 0;

  /// Without branches, which could not be predicted.
  bool operator<(const VisvalingamArea& other) const {
    return ((area < other.area) | ((area == other.area) & (at < other.at))) != 0;
  }
};

/// Arrays have an element a point; those of a contour lie where its points lie.
struct Visvalingam {
  using Params = SimplifyParams;
  static constexpr const char* kName = "simplify";
  static constexpr Gives kGives = Gives::Marks;
  static constexpr ContourTeams kTeams = kWarpsAlone;

  explicit Visvalingam(const SimplifyParams& params) : limits(params) {}

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t points = format.point_capacity;
    if (take.on_host())
      take(nodes, points), take(heap, points);
    else
      take(areas, points), take(before, points), take(after, points), take(smallest, points);
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const OwnPoints& own, std::uint8_t* keep) const {
    mark(team, *this, own, keep);
  }

  SimplifyLimits limits;
  // On the host.
  VisvalingamPoint* nodes = nullptr;
  VisvalingamArea* heap = nullptr;
  // On a device.
  unsigned long long* areas = nullptr;           ///< the bits of twice the area; kFixed: never removed
  unsigned *before = nullptr, *after = nullptr;  ///< neighbours
  unsigned* smallest = nullptr;                  ///< the tree over the areas
};

/// Marks the points of a contour that stay.
void mark(const OneThread& team, const Visvalingam& step, const OwnPoints& own, std::uint8_t* keep);

}  // namespace contorno
