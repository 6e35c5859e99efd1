// How good a pair with one of many contours or objects can be at most, from the bounds of their boxes and
// centroids: what a PartnerTree finds the best one by.
#pragma once

#include <cstdint>

#include "stages/contour_prep/track/rules.h"
#include "stages/shared/partner_tree.h"

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
