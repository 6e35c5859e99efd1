// Close at border: joins contours that end on the border of the map along it, so that they are rings around
// what is high.
//
// Input: contours of any stage, with the sides of their map.
//
// Output: where an open contour ends on the border, the border is followed with the high side on the same
// hand, through corners, to where an open contour of the class begins. Contours that are linked in a ring
// become one closed contour, in the place of the first of them; others are unchanged. The sum of the signed
// areas of a class is then the area above the level, unless no contour of it reaches a border that is high.
//
// What belongs together is told as with brackets: an end opens, a begin closes. Where all contours of a map
// are there, ends and begins alternate, so that each end is linked with the very next begin.
//
// Memory: 41 bytes a contour of the planned capacity on the CPU, about 165 on CUDA, and the output, with room
// for 5 points a contour more than the input has.
//
// Source: K. Weiler and P. Atherton, "Hidden surface removal using polygon area sorting", 1977: as they join
// the parts of a polygon along the window that clips it.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"
#include "pipeline/value/orientation.h"

namespace contorno {

struct CloseAtBorderParams {
  Orientation positive_orientation = Orientation::Low;  ///< as contour_assembly was told
};

/// The format of the output: as many contours, and room for all points that they may get. Throws
/// Error(BadConfig) when these are more than offsets can say.
ContoursFormat closed_format(const PlanContext& context);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_close_at_border_cuda(const ParamSet& params);

const StageType& close_at_border_stage();

}  // namespace contorno
