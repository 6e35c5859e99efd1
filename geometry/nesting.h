// Which contours are around which, for host and device: the point that is tried, and the
// choice of the parent. The boxes that contain the point are found by a tree of boxes on the host (nest.h)
// and by the index of row_lists.h on the device: by anything that finds each of them once.
#pragma once

#include <cstdint>
#include <limits>

#include "base/host_device.h"
#include "geometry/box.h"

namespace contorno::nesting {

/// The place that says what a contour of at least one point lies in: the middle of its first segment.
CONTORNO_HD inline Place place_of(const Point* points, std::uint32_t count) {
  const Point& next = points[count > 1 ? 1 : 0];
  return {(static_cast<double>(points[0].row) + next.row) / 2,
          (static_cast<double>(points[0].col) + next.col) / 2};
}

/// The middle of a box, in which it need not be seen what lies.
CONTORNO_HD inline Place middle_of(const Box& box) {
  return {(static_cast<double>(box.top) + static_cast<double>(box.bottom)) / 2,
          (static_cast<double>(box.left) + static_cast<double>(box.right)) / 2};
}

inline constexpr std::uint32_t kNoParent = 0xFFFFFFFF;

/// Which contours count as those around others; by itself, all of a contour's own class.
struct NestRule {
  static constexpr int kOwnClass = -1;
  int of_class = kOwnClass;      ///< those of this class instead, for contours of every class
  const double* only = nullptr;  ///< a number for each contour: NaN of those that do not count
  /// From 0 on: a contour that lies in none lies in those whose boxes, this much larger on each side, have
  /// the middle of its box. px
  double reach = -1;

  CONTORNO_HD bool counts(std::uint32_t contour) const {
    return only == nullptr || only[contour] == only[contour];
  }
  CONTORNO_HD unsigned class_around(unsigned of_contour) const {
    return of_class == kOwnClass ? of_contour : static_cast<unsigned>(of_class);
  }
  CONTORNO_HD bool is_beside(const Box& box, const Place& place) const {
    return place.row >= box.top - reach && place.row <= box.bottom + reach && place.col >= box.left - reach &&
           place.col <= box.right + reach;
  }
};

/// The most contours that are tried as the one around another: contours that enclose more than it, and whose
/// boxes may have its place. So many rings in each other need a map of more than 16,384 px; without a limit
/// all pairs would be tried.
inline constexpr std::uint32_t kMostTried = 4096;

/// The contours around one, as they are found, in any order.
struct Around {
  unsigned depth = 0;
  unsigned parent = 0;  ///< the contour with the smallest area, the first of several
  std::uint64_t parent_area = std::numeric_limits<std::uint64_t>::max();
  unsigned tried = 0;  ///< how many larger ones there were whose boxes have the place

  /// `area` in the units of size_in_units, twice the area in px^2 times kSizeUnits.
  CONTORNO_HD void add(unsigned contour, std::uint64_t area) {
    ++depth;
    if (area > parent_area || (area == parent_area && contour > parent)) return;
    parent = contour, parent_area = area;
  }
  CONTORNO_HD bool is_too_many() const { return tried > kMostTried; }
  CONTORNO_HD std::uint32_t parent_or_none() const { return depth > 0 ? parent : kNoParent; }
};

/// Throws Error(BadData) for a frame in which some contour has more larger ones around it than are tried.
[[noreturn]] void throw_too_many();

CONTORNO_HD inline void write(const ContoursView& out, std::uint32_t contour, const Around& around) {
  out.column(Attribute::Number)[contour] = contour;
  out.column(Attribute::Depth)[contour] = around.depth;
  out.column(Attribute::Parent)[contour] = around.depth > 0 ? static_cast<double>(around.parent) : -1;
}

}  // namespace contorno::nesting
