// Measure of the map: the mean and the maximum of a class's map inside each contour, as attributes.
//
// Inputs: contours of any stage, and the maps that they are of: one channel a class, with the contours'
// sides.
//
// Output: the same contours, with these attributes more:
//
//   samples   how many samples are inside
//   mean      of them, as probabilities: integers are divided by 255 or 65535
//   maximum   of them
//
// A sample is inside of a contour if its centre is in the contour's region: what the contour encloses without
// what the contours closest inside enclose, by the even-odd rule of all of these together. These are the
// contours of its class whose parent it is by the rules of hierarchy, which need not have run. So the samples
// of a hole are the hole's and not those of the contour around it, and where contours do not cross, each
// sample is inside of one at most. A sample whose centre lies on a contour is inside on the right of what the
// contour encloses and at the top, and outside on the left and at the bottom, so that none is lost or counted
// twice between two contours.
//
// Samples that are NaN do not count. A contour without samples has NaN for the other two: an open one, one
// between samples, beyond the map, or with a coordinate that is infinite or NaN, which is not taken out of
// its parent either.
//
// Memory: about 30 bytes a point and 50 a contour of the planned capacity on the CPU, 60 and 70 on CUDA, and
// the output.
//
// Speed: every segment gives one crossing for each row that it crosses, and one more for the contour around
// its own; sorted, two and two of them are the ends of a span of samples inside. So time goes with crossings
// and samples.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

/// The attributes that it gives.
inline constexpr Attributes kMapAttributes{Attribute::Samples, Attribute::Mean, Attribute::Maximum};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_measure_map_cuda(const ParamSet& params);

const StageType& measure_map_stage();

}  // namespace contorno
