// Hierarchy: which contours of a class lie in which, as attributes.
//
// Input: contours of any stage.
//
// Output: the same contours, with these attributes more:
//
//   number   of the contour in its frame, from 0, in the order of the input
//   depth    how many contours of its class are around it: even of an outer one, odd of a hole
//   parent   the number of the contour with the smallest area among them, the first one of several; -1 = none
//
// A contour is around another one if it is closed, encloses a larger area (geometry/contour_size.h), and has
// the middle of the other's first segment inside, by the even-odd rule. Contours of contour_assembly never
// cross but may touch at a sample, which the middle of a segment never is.
//
// Memory: about 65 bytes a contour and 2 a point of the planned capacities on the CPU, about 70 a contour on
// CUDA, and the output.
//
// Speed: a tree of boxes (on CUDA an index by rows) finds the boxes of larger contours that contain a place,
// and only the contours of these are tried. A frame with a contour that lies in the boxes of more than 4,096
// is refused: Error(BadData).
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
