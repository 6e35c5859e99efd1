// The search for the point that is farthest from a chord, on the CPU: for AVX2, and for any machine. Every
// lane computes what Chord does, so both give the same.
#pragma once

#include "stages/contour_prep/simplify/rules.h"
#include "stages/shared/simd.h"

namespace contorno {

/// A function that searches the points between `begin` and `end`. Unless the greatest distance exceeds
/// `least`, or if there are no points, it does not say where, but begin + 1.
using FarthestBetween = Farthest (*)(const Point* points, std::uint32_t begin, std::uint32_t end,
                                     const Chord& chord, double least);

/// The fastest function that `simd` allows.
FarthestBetween farthest_between(Simd simd);
FarthestBetween farthest_between_avx2();

}  // namespace contorno
