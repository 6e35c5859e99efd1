// Which contours of a frame show which objects, on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "stages/contour_prep/track/stage.h"
#include "stages/shared/partner_tree.h"

// How good a pair with one of many contours or objects can be at most, from the bounds of their boxes and
// centroids: what a PartnerTree finds the best one by.

namespace contorno::tracking {

/// Bounds of each side of the boxes, and of the centroids: top > bottom where there is none.
struct SeenBounds {
  Box lowest, highest;
  double top = 0, bottom = 0, left = 0, right = 0;

  SeenBounds();
  explicit SeenBounds(const Seen& seen);
  void widen(const SeenBounds& other);
};

class SeenRules {
 public:
  using Value = Seen;
  using Score = tracking::Score;
  using Bounds = SeenBounds;
  static constexpr int kSides = 4;

  explicit SeenRules(const Limits& limits) : limits_(limits) {}

  static float side(const Seen& seen, int k);
  static double spread(const SeenBounds& bounds, int k);
  Score score(const Seen& one, const Seen& other) const { return score_of(one, other, limits_); }
  Score most_score(const SeenBounds& bounds, const Seen& seen) const;

 private:
  Limits limits_;
};

using SeenTree = PartnerTree<SeenRules>;

}  // namespace contorno::tracking

// Which contours of a frame show which objects, on the CPU: by chains whose searches go down trees.

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
  /// An element an object: while a chain is followed, the contour before the object in it; in the end kNone
  /// for objects that are not seen.
  std::span<std::uint32_t> contours_before;
  SeenTree::Memory tree_of_contours, tree_of_objects;
};

/// Gives contours their objects, of those that are awaited in frame `number`. Returns how often a search has
/// compared what it looks for with a node or an item of a tree.
std::uint64_t pair_contours(const PairingWork& work, const Limits& limits, std::uint64_t number, bool anew);

}  // namespace contorno::tracking
