// Fourier descriptors: the form of every closed contour as a few numbers, as attributes. They do not change
// when a contour is moved, turned, scaled or mirrored, begins at another point or runs the other way round.
//
// Input: contours of any stage.
//
// Output: the same contours, with these attributes more:
//
//   fourier_minus_1             |c_-1| / |c_1|: 0 of a circle, (a - b) / (a + b) of an ellipse with the
//                               half-axes a and b, 1 of a line there and back
//   fourier_2, fourier_3, ...   |c_k| / |c_1| for k = 2, 3, 4
//   fourier_minus_2, ...        |c_k| / |c_1| for k = -2, -3, -4
//
// c_k are the Fourier coefficients of z = col + i row at the own points, and k counts in the direction in
// which the contour runs: if |c_-1| is greater than |c_1|, c_-k takes the place of c_k. NaN: of open
// contours, of frequencies that fewer points do not have, where both are 0 (less than 0.5e-9 px), and where a
// coordinate is not finite.
//
// Memory: 4 bytes a contour of the planned capacity, and the output.
//
// Source: G. H. Granlund, "Fourier preprocessing for hand print character recognition", 1972: coefficients of
// points as complex numbers.
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

/// The attributes that it gives.
inline constexpr Attributes kFourierAttributes{
    Attribute::FourierMinus1, Attribute::Fourier2, Attribute::FourierMinus2, Attribute::Fourier3,
    Attribute::FourierMinus3, Attribute::Fourier4, Attribute::FourierMinus4};

const StageType& fourier_descriptors_stage();

}  // namespace contorno
