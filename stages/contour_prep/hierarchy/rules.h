// Which contours are around which, for host and device, and the lists by which they are found.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "cuda/host_device.h"
#include "pipeline/value/contours.h"

namespace contorno::nesting {

/// A place on the map in px.
struct Place {
  double row = 0, col = 0;
};

/// The point that says what a contour, which is not empty, lies in: the middle of its first segment.
CONTORNO_HD inline Place place_of(const Point* points, std::uint32_t count) {
  const Point& next = points[count > 1 ? 1 : 0];
  return {(static_cast<double>(points[0].row) + next.row) / 2,
          (static_cast<double>(points[0].col) + next.col) / 2};
}

/// Whether the way from `place` against the columns' axis crosses the segment. It is inside of a closed
/// contour if it crosses an odd number of its segments.
CONTORNO_HD inline bool crosses(const Place& place, const Point& a, const Point& b) {
  const double a_row = a.row, b_row = b.row;
  if ((a_row > place.row) == (b_row > place.row)) return false;
  return place.col > a.col + (static_cast<double>(b.col) - a.col) * ((place.row - a_row) / (b_row - a_row));
}

/// The box around a contour; points that are NaN have no place in it.
struct Box {
  float least_row = std::numeric_limits<float>::infinity(), least_col = least_row;
  float greatest_row = -least_row, greatest_col = -least_row;

  CONTORNO_HD void add(const Box& other) {
    least_row = other.least_row < least_row ? other.least_row : least_row;
    least_col = other.least_col < least_col ? other.least_col : least_col;
    greatest_row = other.greatest_row > greatest_row ? other.greatest_row : greatest_row;
    greatest_col = other.greatest_col > greatest_col ? other.greatest_col : greatest_col;
  }
  CONTORNO_HD void add(const Point& point) { add(Box{point.row, point.col, point.row, point.col}); }
  CONTORNO_HD bool has(const Place& place) const {
    return place.row >= least_row && place.row <= greatest_row && place.col >= least_col &&
           place.col <= greatest_col;
  }
};

// Lists: level l has one for every 2^l rows of the map. A box is in the list of its first row at the lowest
// level at which it ends in this list or the next one, so that whatever contains a place is in one of two
// lists of every level.

inline constexpr int kRowBits = 17, kLevels = kRowBits + 1;

/// The row of a coordinate, those outside of the map's sides the nearest one.
CONTORNO_HD inline unsigned row_of(double row) {
  constexpr unsigned kLast = (1U << kRowBits) - 1;
  if (!(row > 0)) return 0;
  return row < kLast ? static_cast<unsigned>(row) : kLast;
}
CONTORNO_HD inline unsigned long long list_of(unsigned of_class, int level, unsigned list) {
  return (static_cast<unsigned long long>(of_class) * kLevels + static_cast<unsigned>(level)) << kRowBits |
         list;
}
/// The list of a box that is not empty.
CONTORNO_HD inline unsigned long long list_of(unsigned of_class, const Box& box) {
  const unsigned first = row_of(box.least_row), rows = row_of(box.greatest_row) - first;
  int level = 0;
  while (rows >> level != 0) ++level;
  return list_of(of_class, level, first >> level);
}
/// The bits that lists of so many classes have.
inline int list_bits(int classes) {
  return static_cast<int>(std::bit_width(list_of(static_cast<unsigned>(classes), 0, 0)));
}

/// What is known of the contours around one.
struct Around {
  unsigned depth = 0, parent = 0;
  std::uint64_t area = std::numeric_limits<std::uint64_t>::max();  ///< of the parent

  CONTORNO_HD void add(unsigned contour, std::uint64_t size) {
    ++depth;
    if (size > area || (size == area && contour > parent)) return;
    parent = contour, area = size;
  }
};

CONTORNO_HD inline void write(const ContoursView& out, std::uint32_t contour, const Around& around) {
  out.column(Attribute::Number)[contour] = contour;
  out.column(Attribute::Depth)[contour] = around.depth;
  out.column(Attribute::Parent)[contour] = around.depth > 0 ? static_cast<double>(around.parent) : -1;
}

}  // namespace contorno::nesting
