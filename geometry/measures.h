// What is measured of a contour, for host and device: sums over its segments in a fixed order
// (team.h), and what comes of them.
//
// Source of the moments: C. Steger, "On the calculation of arbitrary moments of polygons", 1996.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/host_device.h"
#include "geometry/angle.h"
#include "geometry/attributes.h"
#include "geometry/box.h"
#include "geometry/team.h"

namespace contorno::measuring {

/// What `measure` writes (write_outline).
inline constexpr Attributes kMeasuredAttributes{
    Attribute::Area,        Attribute::Perimeter, Attribute::MinRow,      Attribute::MinCol,
    Attribute::MaxRow,      Attribute::MaxCol,    Attribute::CentroidRow, Attribute::CentroidCol,
    Attribute::Orientation, Attribute::MajorAxis, Attribute::MinorAxis,   Attribute::Circularity,
    Attribute::Convexity};

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A point relative to the first one of its contour: far from the origin the products would lose what an area
/// is made of.
struct Offset {
  double row = 0, col = 0;
  CONTORNO_HD Offset(const Point& point, const Point& first)
      : row(static_cast<double>(point.row) - first.row), col(static_cast<double>(point.col) - first.col) {}
};

CONTORNO_HD inline double length_of(const Offset& a, const Offset& b) {
  return std::sqrt((b.row - a.row) * (b.row - a.row) + (b.col - a.col) * (b.col - a.col));
}

/// Sums from which a centre comes, of triangles with the first point (weighted with twice their area) or of
/// segments (weighted with their length).
struct FirstMoments {
  double weight = 0, row = 0, col = 0;

  CONTORNO_HD void add(double of, const Offset& a, const Offset& b) {
    weight += of;
    row += of * (a.row + b.row);
    col += of * (a.col + b.col);
  }
  CONTORNO_HD void add(const FirstMoments& other) {
    weight += other.weight;
    row += other.row, col += other.col;
  }
  /// The centre relative to the first point. The mean of a triangle with the first point is a third of the
  /// sum of its other corners, that of a segment half the sum of its ends.
  CONTORNO_HD double centre_row(double corners) const { return row / (corners * weight); }
  CONTORNO_HD double centre_col(double corners) const { return col / (corners * weight); }
};
inline constexpr double kOfTriangles = 3, kOfSegments = 2;  ///< `corners`

/// These and the sums from which the spread around the centre comes.
struct Moments {
  FirstMoments first;
  double row_row = 0, row_col = 0, col_col = 0;

  CONTORNO_HD void add(double of, const Offset& a, const Offset& b) {
    first.add(of, a, b);
    row_row += of * (a.row * a.row + a.row * b.row + b.row * b.row);
    row_col += of * (2 * (a.row * a.col + b.row * b.col) + (a.row * b.col + b.row * a.col));
    col_col += of * (a.col * a.col + a.col * b.col + b.col * b.col);
  }
  CONTORNO_HD void add(const Moments& other) {
    first.add(other.first);
    row_row += other.row_row, row_col += other.row_col, col_col += other.col_col;
  }
};

/// Twice the area of the triangle of a segment with the first point, px^2: above 0 where the contour goes
/// around high regions.
CONTORNO_HD inline double twice_area_of(const Offset& a, const Offset& b) {
  return a.col * b.row - b.col * a.row;
}

/// One lane's part of what needs one pass over the segments.
struct OutlineSums {
  Moments area;
  double length = 0;

  CONTORNO_HD void add(const Offset& a, const Offset& b) {
    area.add(twice_area_of(a, b), a, b);
    length += length_of(a, b);
  }
  CONTORNO_HD void add(const OutlineSums& other) {
    area.add(other.area);
    length += other.length;
  }
};

/// The sums over the segments of a contour from which its centroid comes, in the same order as OutlineSums,
/// so that the area and the length are the same bits.
struct CentroidSums {
  FirstMoments area, line;

  CONTORNO_HD void add(const Offset& a, const Offset& b) {
    area.add(twice_area_of(a, b), a, b);
    line.add(length_of(a, b), a, b);
  }
  CONTORNO_HD void add(const CentroidSums& other) { area.add(other.area), line.add(other.line); }
  /// Moves (row, col) from the first point of the contour to its centroid: that of its area if it is closed
  /// and has one, else that of its line. A contour without length has its centroid at its first point.
  CONTORNO_HD void move_to_centroid(bool closed, double& row, double& col) const {
    const bool has_area = closed && area.weight != 0;
    const FirstMoments& sums = has_area ? area : line;
    if (sums.weight == 0) return;
    const double corners = has_area ? kOfTriangles : kOfSegments;
    row += sums.centre_row(corners), col += sums.centre_col(corners);
  }
};

/// The centre of an area or a line and how it spreads.
struct Ellipse {
  double row = 0, col = 0;                       ///< centre, relative to the first point
  double row_row = 0, row_col = 0, col_col = 0;  ///< second moments about it
};

/// What moments of triangles or of segments say; the mean of squares is a sixth or a third of what is summed.
CONTORNO_HD inline Ellipse ellipse_of(const Moments& m, double corners) {
  const double squares = corners == kOfTriangles ? 6 : 3, weight = squares * m.first.weight;
  Ellipse e;
  e.row = m.first.centre_row(corners), e.col = m.first.centre_col(corners);
  e.row_row = m.row_row / weight - e.row * e.row;
  e.col_col = m.col_col / weight - e.col * e.col;
  e.row_col = m.row_col / (2 * weight) - e.row * e.col;
  return e;
}

/// Writes what an ellipse is to the columns of contour `index`; `first` is the contour's first point.
CONTORNO_HD inline void write_ellipse(const ContoursView& out, std::uint32_t index, const Point& first,
                                      const Ellipse& e) {
  put(out, Attribute::CentroidRow, index, first.row + e.row);
  put(out, Attribute::CentroidCol, index, first.col + e.col);
  const double mean = (e.row_row + e.col_col) / 2, half = (e.row_row - e.col_col) / 2;
  const double apart = std::sqrt(half * half + e.row_col * e.row_col);
  // Rounding may leave less than nothing of the smaller one.
  const double smaller = mean - apart;
  put(out, Attribute::MajorAxis, index, 4 * std::sqrt(mean + apart));
  put(out, Attribute::MinorAxis, index, 4 * std::sqrt(smaller < 0 ? 0 : smaller));
  put(out, Attribute::Orientation, index, angle_of(e.row_col, half) / 2);
}

/// Writes the figures of form of a contour with `area` (0 for an open one) and the convex hull `hull`.
CONTORNO_HD inline void write_form(const ContoursView& out, std::uint32_t index, double area, double length,
                                   double hull) {
  const double size = area < 0 ? -area : area;
  put(out, Attribute::Area, index, area);
  put(out, Attribute::Perimeter, index, length);
  put(out, Attribute::Circularity, index,
      length > 0 ? 4 * std::numbers::pi * size / (length * length) : kNaN);
  put(out, Attribute::Convexity, index, hull > 0 ? size / hull : kNaN);
}

CONTORNO_HD inline void write_box(const ContoursView& out, std::uint32_t index, const Box& box) {
  // -0 becomes 0, whichever of them came first.
  const auto known = [](float value) { return std::isinf(value) ? kNaN : value + 0.0; };
  put(out, Attribute::MinRow, index, known(box.top));
  put(out, Attribute::MinCol, index, known(box.left));
  put(out, Attribute::MaxRow, index, known(box.bottom));
  put(out, Attribute::MaxCol, index, known(box.right));
}

/// Writes all attributes of `measure` (kMeasuredAttributes, which `out` has) of a contour with these points
/// to the columns of contour `index`. `hull` is the area of its convex hull, px^2; 0 = it has none. The last
/// point of a closed contour repeats its first.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD void write_outline(const Team& team, const ContoursView& out, std::uint32_t index,
                               const Point* points, std::uint32_t count, bool closed, double hull) {
  const std::uint32_t segments = count > 0 ? count - 1 : 0;
  const auto outline = team.template sum<OutlineSums>(segments, [=](OutlineSums& lane, std::uint64_t i) {
    lane.add(Offset(points[i], points[0]), Offset(points[i + 1], points[0]));
  });
  Ellipse ellipse;
  if (closed && outline.area.first.weight != 0)
    ellipse = ellipse_of(outline.area, kOfTriangles);
  else if (outline.length != 0)
    ellipse = ellipse_of(team.template sum<Moments>(segments,
                                                    [=](Moments& lane, std::uint64_t i) {
                                                      const Offset a(points[i], points[0]),
                                                          b(points[i + 1], points[0]);
                                                      lane.add(length_of(a, b), a, b);
                                                    }),
                         kOfSegments);
  const Box box = box_of(team, points, count);
  if (!team.is_first()) return;
  write_form(out, index, closed ? outline.area.first.weight / 2 : 0, outline.length, hull);
  write_ellipse(out, index, count > 0 ? points[0] : Point{static_cast<float>(kNaN), static_cast<float>(kNaN)},
                ellipse);
  write_box(out, index, box);
}

// Convex hulls are found on a grid of 2^-16 px, on which it can be decided exactly on which side of a line a
// point lies: so every algorithm finds the same hull.

__extension__ using Wide = __int128;

/// A point on that grid, relative to the first one of its contour.
struct GridPoint {
  std::int64_t row = 0, col = 0;

  CONTORNO_HD bool operator==(const GridPoint& other) const { return row == other.row && col == other.col; }
  CONTORNO_HD bool operator<(const GridPoint& other) const {
    return col != other.col ? col < other.col : row < other.row;
  }
};

/// Whether a coordinate can be on the grid: relative to the first point, in px.
CONTORNO_HD inline bool is_on_grid(double value) {
  constexpr double kMost = 1 << 24;
  return value > -kMost && value < kMost;
}
CONTORNO_HD inline GridPoint grid_point(const Offset& point) {
  constexpr double kGrid = 1 << 16;
  return {static_cast<std::int64_t>(std::floor(point.row * kGrid + 0.5)),
          static_cast<std::int64_t>(std::floor(point.col * kGrid + 0.5))};
}
/// In px^2, from twice an area on the grid.
CONTORNO_HD inline double area_on_grid(Wide twice_area) {
  constexpr double kUnits = 8589934592.0;  // 2 * 2^16 * 2^16
  // Both halves one by one: how a whole one becomes a double is not said to be the same everywhere.
  constexpr double kHigh = 18446744073709551616.0;  // 2^64
  return (static_cast<double>(static_cast<std::int64_t>(twice_area >> 64)) * kHigh +
          static_cast<double>(static_cast<std::uint64_t>(twice_area))) /
         kUnits;
}

/// Twice the area of the triangle: above 0 when `c` lies on the side of the columns' axis turned to the rows'
/// axis, seen from `a` to `b`.
CONTORNO_HD inline Wide twice_triangle(const GridPoint& a, const GridPoint& b, const GridPoint& c) {
  return static_cast<Wide>(b.col - a.col) * (c.row - a.row) -
         static_cast<Wide>(b.row - a.row) * (c.col - a.col);
}

}  // namespace contorno::measuring
