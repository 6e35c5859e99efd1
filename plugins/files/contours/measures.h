// Area, length, bounding box and centroid of one contour, as sinks write them. Area, length and centroid have
// the same bits as the attributes that the step `measure` gives the same points.
#pragma once

#include <span>

#include "pipeline/value/contours.h"

namespace contorno {

/// Measures of one contour, in px and px^2; x = column to the right, y = row downwards.
struct ContourMeasures {
  /// Shoelace area of a closed contour, 0 of an open one. Contours walk clockwise, as seen on the screen,
  /// around high regions (the default orientation), which makes their area positive and that of holes
  /// negative. With the other orientation every sign is reversed.
  double area = 0;
  double length = 0;
  double x = 0, y = 0, width = 0, height = 0;  ///< bounding box of the points
  double centroid_x = 0, centroid_y = 0;       ///< of the area; of the line where there is no area
};

enum class Closure : bool { Open, Closed };

/// Box and area of a contour, as in ContourMeasures.
struct BoxAndArea {
  double area = 0;
  double x = 0, y = 0, width = 0, height = 0;
};
/// Box and area with the bits of `measure`, in a fraction of its time.
BoxAndArea measure_box_and_area(std::span<const Point> points, Closure closure);

/// The last point of a closed contour repeats its first. A NaN coordinate makes length, centroid and a closed
/// contour's area NaN; the box is that of the other coordinates. Without points the box is NaN, the rest 0.
ContourMeasures measure(std::span<const Point> points, Closure closure);

}  // namespace contorno
