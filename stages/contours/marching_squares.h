// Marching squares: which samples of each class's map are above that class's level. The one stage that reads
// whole maps.
//
// Input: maps, one channel a class, any element type (integers are probabilities: v / 255, v / 65535), planar
//   or interleaved. NaN marks samples that may not be used: no contour passes a cell that has one.
// Output: crossings, for contour_assembly; refers to the map, whose samples are needed again.
// Memory: about half a bit to half a byte a sample in the crossings block, none besides.
// Equal bits because: comparisons are exact in every type and instruction set, and rows are independent.
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

const StageType& marching_squares_stage();

}  // namespace contorno
