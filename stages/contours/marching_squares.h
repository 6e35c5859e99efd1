// Marching squares: which samples of each class's map are above that class's level. No other stage reads
// whole maps for contours.
//
// Input: maps, one channel a class, of any element type (integers are probabilities: v / 255, v / 65535),
// planar or interleaved. NaN marks samples that may not be used: no contour passes a cell that has one.
//
// Output: crossings, for contour_assembly. They refer to the map, whose samples are read again where a cell
// is crossed.
//
// Memory: about half a bit to half a byte a sample in the crossings block, none besides.
//
// Both backends give the same bits, because comparisons are exact in every type and instruction set, and
// because rows are independent of each other.
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

const StageType& marching_squares_stage();

}  // namespace contorno
