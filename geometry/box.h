// Boxes around points, and their distances. They are compared exactly: the box of some points is never
// farther than any of them, because differences of float32 numbers, their squares and sums grow with each
// other when they are rounded.
#pragma once

#include <limits>

#include "geometry/inside.h"
#include "geometry/points.h"
#include "geometry/team.h"

namespace contorno {

/// The bounds of some points; empty as it is made. Points with a coordinate that is NaN are in no box.
struct Box {
  float top = std::numeric_limits<float>::infinity(), left = top, bottom = -top, right = -top;

  CONTORNO_HD void add(const Point& point) {
    if (!(point.row == point.row && point.col == point.col)) return;
    add(Box{point.row, point.col, point.row, point.col});
  }
  CONTORNO_HD void add(const Box& other) {
    top = other.top < top ? other.top : top, bottom = other.bottom > bottom ? other.bottom : bottom;
    left = other.left < left ? other.left : left, right = other.right > right ? other.right : right;
  }
  CONTORNO_HD bool has(const Place& place) const {
    return place.row >= top && place.row <= bottom && place.col >= left && place.col <= right;
  }
  /// At most the squared distance of any point of one to any point of the other; infinite for an empty box.
  CONTORNO_HD double squared_distance(const Box& other) const {
    const double rows = gap(top, bottom, other.top, other.bottom);
    const double cols = gap(left, right, other.left, other.right);
    return rows * rows + cols * cols;
  }

 private:
  CONTORNO_HD static double gap(float low, float high, float other_low, float other_high) {
    const double below = static_cast<double>(other_low) - static_cast<double>(high);
    const double above = static_cast<double>(low) - static_cast<double>(other_high);
    const double gap = below > above ? below : above;
    return gap > 0 ? gap : 0;
  }
};

/// The box of a contour's points.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD Box box_of(const Team& team, const Point* points, std::uint32_t count) {
  return team.template join<Box>(count, [=](Box& all, std::uint64_t i) { all.add(points[i]); });
}
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD Box box_of(const Team& team, const ContoursView& contours, std::uint32_t contour) {
  const std::uint32_t begin = contours.offsets[contour];
  return box_of(team, contours.points + begin, contours.offsets[contour + 1] - begin);
}

}  // namespace contorno
