// Smooth: each contour as the sum of a few terms of its Fourier series, those of the lowest frequencies or
// the largest ones.
//
// Input: contours of any stage.
//
// Output: the same contours with as many points, which have moved. With z = col + i row, a closed contour is
// the sum of c_k exp(2 pi i k j / N) at its own point j of N, of the k that are kept. Of an open contour what
// is smoothed is its offset from the straight line between its ends, which is 0 at the ends: continued as an
// odd function to a period of twice the length, its series is one of sines, which keeps the ends in place.
// What has fewer than 3 own points, no more terms than are kept, or a point that is not finite, stays as it
// is.
//
// Memory: 176 bytes a point of the planned capacity and the output; once for all frames a table of 16 to 64
// bytes a point.
//
// Equal bits because both backends run the same text (rules.h), in which each number has one way to come
// about.
//
// Source: G. H. Granlund, "Fourier preprocessing for hand print character recognition", 1972; L. V. Greco,
// "Fourier Drawing Machine", section 1.
#pragma once

#include "geometry/fourier_selection.h"
#include "pipeline/graph/stage.h"

namespace contorno {

struct SmoothParams {
  int terms = 21;  ///< coefficients that are kept
  KeptTerms keep = KeptTerms::Low;
};

const StageType& smooth_stage();

}  // namespace contorno
