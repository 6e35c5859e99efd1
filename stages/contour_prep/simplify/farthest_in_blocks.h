// The search for the point that is farthest from a chord, without those blocks of points that lie nearer to
// it: for contours whose points Douglas-Peucker splits off one by one, as those of a comb. What is found is
// what a search of all points finds.
#pragma once

#include "geometry/point_blocks.h"
#include "stages/contour_prep/simplify/farthest_between.h"

namespace contorno {

class FarthestInBlocks {
 public:
  /// Of `count` points, with room for the boxes of PointBlocks.
  FarthestInBlocks(const Point* points, std::uint32_t count, Box* boxes);
  /// What `search` finds between `begin` and `end`.
  Farthest operator()(FarthestBetween search, std::uint32_t begin, std::uint32_t end,
                      const Chord& chord) const;

 private:
  const Point* points_;
  PointBlocks blocks_;
  double rounding_;  // 0 where the coordinates are so coarse that distances are exact
};

}  // namespace contorno
