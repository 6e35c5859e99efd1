// Measure: what is known of the shape of every contour, as attributes.
//
// Input: contours of any stage.
//
// Output: the same contours, with these attributes more, in px of the map:
//
//   area           of a closed contour, by the shoelace formula; 0 of an open one. Contours around high
//                  regions have a positive area and holes a negative one, so that the sum over a class is the
//                  area of its regions (with the default orientation)
//   perimeter      length of the line
//   min_row, min_col, max_row, max_col   box of the points
//   centroid_row, centroid_col           of the area; of the line where there is no area
//   major_axis, minor_axis               of the ellipse with the same second moments: 4 times the roots of
//                  their eigenvalues
//   orientation    of the major axis: its angle from the rows' axis, which points down, -pi/2 to pi/2,
//   towards
//                  the columns' axis
//   circularity    4 pi |area| / perimeter^2: 1 of a circle, 0 of an open contour
//   convexity      |area| / area of the convex hull: 1 of a convex contour, 0 of an open one
//
// Centroid, axes and orientation are those of scikit-image's regionprops, for a region with that outline
// instead of one of whole pixels; convexity is its solidity. What a contour does not have, as a centroid
// without points or a convexity without a hull, is NaN, and so is what a NaN among its coordinates spoils.
//
// Memory: 32 bytes a point and 20 a contour of the planned capacity on the CPU, 16 and 4 on CUDA, and the
// output.
//
// Sources: C. Steger, "On the calculation of arbitrary moments of polygons", 1996; A. M. Andrew, "Another
// efficient algorithm for convex hulls in two dimensions", 1979 (CPU); R. A. Jarvis, "On the identification
// of the convex hull of a finite set of points in the plane", 1973 (CUDA).
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

const StageType& measure_stage();

}  // namespace contorno
