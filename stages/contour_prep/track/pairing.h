// Which contours of a frame show which objects, on the CPU: by chains whose searches go down trees.
#pragma once

#include <cstdint>
#include <span>

#include "stages/contour_prep/track/rules.h"
#include "stages/contour_prep/track/seen_bounds.h"

namespace contorno::tracking {

/// What is seen of a contour, and of which object it is: kNone of a new one, kHole of none.
struct TrackedContour {
  Seen seen;
  std::uint32_t of_class = 0, object = kNone;
};

/// Arrays of somebody else: the contours, of which some are holes and the others have no object yet, the
/// objects, and memory for trees of both.
struct PairingWork {
  std::span<TrackedContour> contours;
  std::span<const Object> objects;
  /// An element an object, in the end kNone of those that are not seen.
  std::span<std::uint32_t> contours_before;
  SeenTree::Memory tree_of_contours, tree_of_objects;
};

/// Gives contours their objects, of those that are awaited in frame `number`. Returns how often a search has
/// compared what it looks for with a node or an item of a tree.
std::uint64_t pair_contours(const PairingWork& work, const Limits& limits, std::uint64_t number, bool anew);

}  // namespace contorno::tracking
