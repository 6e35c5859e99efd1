// The search for the point that is farthest from a chord, on the CPU.
#pragma once

#include "geometry/point_blocks.h"
#include "stages/contour_prep/simplify/stage.h"
#include "stages/shared/simd.h"

namespace contorno {

// The search for the point that is farthest from a chord, on the CPU: for AVX2, and for any machine. Every
// lane computes what Chord does, so both give the same.

/// A function that searches the points between `begin` and `end`. Unless the greatest distance exceeds
/// `least`, or if there are no points, it does not say where, but begin + 1.
using FarthestBetween = Farthest (*)(const Point* points, std::uint32_t begin, std::uint32_t end,
                                     const Chord& chord, double least);

/// The fastest function that `simd` allows.
FarthestBetween farthest_between(Simd simd);
FarthestBetween farthest_between_avx2();

// The search for the point that is farthest from a chord, without those blocks of points that lie nearer to
// it: for contours whose points Douglas-Peucker splits off one by one, as those of a comb. What is found is
// what a search of all points finds.

class FarthestInBlocks {
 public:
  /// Takes `count` points, and in `boxes` room for the boxes of PointBlocks.
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
