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

/// What became of a class. It is named as before, one that is new as now.
struct ClassChanges {
  std::string name;
  std::size_t lost = 0, added = 0, moved = 0;  ///< contours
  double distance = 0;                         ///< the largest one of a pair, px of the map
  /// What is said of the class itself: "its level was 0.5, is 0.51", "it is called 'c' now"; empty: as
  /// before.
  std::string itself;
  bool other_name = false;  ///< it is gone, new, or has another name: no tolerance allows for that
};

struct ContourChanges {
  std::vector<ContourPair> moved;          ///< pairs with other points or attributes
  std::vector<std::uint32_t> lost, added;  ///< contours of the run before, of the run after
  std::size_t attributes = 0;              ///< pairs of which an attribute has another value
  double distance = 0;                     ///< the largest one of a pair, px of the map
  std::vector<ClassChanges> classes;       ///< those that differ, in the order of before, then new ones
  std::string first;                       ///< a sentence about the first difference; empty: there is none
};

/// Pairs classes: those of the same name first, then, in their order, those that are left and have the same
/// levels. Of a class without a partner all contours were lost or added. Then pairs the contours of each pair
/// of classes: those with equal points first, in their order; then those that are both
/// closed or both open and whose bounding boxes differ least, where no side of a box differs by more than
/// `reach` px. What is left was lost or added. `reach` is 0 or more.
ContourChanges compare_contours(const ContourFrame& before, const ContourFrame& after, double reach);

}  // namespace contorno
