// The contours of one frame in two runs: which belong together, how far they are apart, which came or went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/files/contours/contour_frame.h"

namespace contorno {

/// A contour of the run before and the one of the run after that is taken for the same.
struct ContourPair {
  std::uint32_t before = 0, after = 0;
  double distance = 0;  ///< see distance_between; 0 where all points are equal
};

struct ContourChanges {
  std::vector<ContourPair> moved;          ///< with other points, or other attributes
  std::vector<std::uint32_t> lost, added;  ///< of the run before, of the run after
  std::size_t attributes = 0;              ///< pairs of which an attribute has another value
  double distance = 0;                     ///< the largest one of a pair, px of the map
  std::string first;                       ///< a sentence about the first difference; empty: there is none
};

/// The Hausdorff distance of two lines: how far a point of one is from the other line, at most, both ways.
/// A line goes from point to point. Infinite where one has no points or a coordinate that is no number.
double distance_between(std::span<const Point> one, std::span<const Point> other);

/// Pairs contours class by class: those with equal points first, in their order; then those that are both
/// closed or both open and whose bounding boxes differ least, where no side of a box differs by more than
/// `reach` px. What is left was lost or added. `reach` is 0 or more.
ContourChanges compare_contours(const ContourFrame& before, const ContourFrame& after, double reach);

}  // namespace contorno
