// Hierarchy: which contours of a class lie in which, as attributes.
//
// Input: contours of any stage.
//
// Output: the same contours, with these attributes more:
//
//   number   of the contour in its frame, from 0, in the order of the input
//   depth    how many contours of its class are around it: even of an outer one, odd of a hole
//   parent   the number of the smallest of them, the first one of several; -1 if there is none
//
// A contour is around another one if it is closed, encloses a larger area, and has the middle of the other's
// first segment inside, by the even-odd rule. Contours of one level never cross, but may touch at a sample;
// the middle of a segment touches nothing.
//
// Memory: 44 bytes a contour of the planned capacity on the CPU, about 70 on CUDA, and the output.
//
// Speed: contours lie in lists by the rows of their boxes, as long as a box is high, so that only those near
// a point are tried, however many there are.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

/// The attributes that it gives.
inline constexpr Attributes kHierarchyAttributes{Attribute::Number, Attribute::Parent, Attribute::Depth};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_hierarchy_cuda(const ParamSet& params);

const StageType& hierarchy_stage();

}  // namespace contorno
