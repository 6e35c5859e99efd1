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
//   orientation    of the major axis: its angle from the rows' axis, which points down, towards the columns'
//                  axis, -pi/2 to pi/2
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

#include "geometry/hull.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

// What measure writes of a contour, for both backends.

struct Measure {
  using Params = NoParams;
  static constexpr const char* kName = "measure";
  static constexpr Gives kGives = Gives::Attributes;
  static constexpr Attributes kAttributes = measuring::kMeasuredAttributes;
  static constexpr ContourTeams kTeams{};

  explicit Measure(const NoParams&) {}

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    take(room.sorted, format.point_capacity);
    if (!take.on_host()) return;
    const std::size_t corners = format.point_capacity + format.contour_capacity;  // hulls end as they begin
    take(room.hull, corners), take(room.bins, corners);
  }

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, const ContoursView& out, std::uint32_t contour) const {
    const std::uint32_t begin = out.offsets[contour], count = out.offsets[contour + 1] - begin;
    const Point* const points = out.points + begin;
    const std::size_t corners = std::size_t{begin} + contour;
    const measuring::HullRoom own{.sorted = room.sorted + begin,
                                  .hull = room.hull + corners,
                                  .bins = room.bins + corners,
                                  .most_looks = work.refused != nullptr ? work.most : ~std::uint64_t{0}};
    const double hull = count == 0 ? 0 : hull_area(team, points, count, own);
    if (hull == measuring::kHullRefused && team.is_first()) *work.refused = count;
    measuring::write_outline(team, out, contour, points, count, out.closed[contour] != 0, hull);
  }

  /// Says that a contour of so many points takes a device more work than is allowed. Throws Error(BadData).
  [[noreturn]] static void throw_too_much_work(std::uint32_t points);

  measuring::HullRoom room;
  WorkLimit work;
};

const StageType& measure_stage();

}  // namespace contorno
