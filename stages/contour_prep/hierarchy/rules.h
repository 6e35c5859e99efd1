// Which contours are around which (hierarchy/stage.h), for host and device: the point that is tried, the
// choice of the parent, and an index of boxes by rows, which finds all boxes that contain a point. The index
// may be another one as long as it finds each of them once.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "cuda/host_device.h"
#include "stages/contour_prep/shared/box.h"

namespace contorno::nesting {

/// The place that says what a contour of at least one point lies in: the middle of its first segment.
CONTORNO_HD inline Place place_of(const Point* points, std::uint32_t count) {
  const Point& next = points[count > 1 ? 1 : 0];
  return {(static_cast<double>(points[0].row) + next.row) / 2,
          (static_cast<double>(points[0].col) + next.col) / 2};
}

// The index. At level l the rows are divided into lists of 2^l rows: list i has rows i 2^l to (i + 1) 2^l
// - 1. A box from its first to its last row is entered once: at the lowest level with 2^l greater than the
// difference of the two rows, in the list of its first row. So it ends in that list or the next one, and a
// box that contains a place is, on its level, in the list of the place or in the one before.

inline constexpr int kRowBits = 17, kLevels = kRowBits + 1;

/// The row of a coordinate in px; of one below 0, and of NaN, the first, and of one beyond 2^17 rows (twice
/// the longest side of a map) the last: boxes there are found all the same, with others.
CONTORNO_HD inline unsigned row_of(double row) {
  constexpr unsigned kLast = (1U << kRowBits) - 1;
  if (!(row > 0)) return 0;
  return row < kLast ? static_cast<unsigned>(row) : kLast;
}
/// A number for list `list` of a level; those of a class and level follow each other.
CONTORNO_HD inline unsigned long long list_of(unsigned of_class, int level, unsigned list) {
  return (static_cast<unsigned long long>(of_class) * kLevels + static_cast<unsigned>(level)) << kRowBits |
         list;
}
/// The list in which a box is entered; it is not empty (top <= bottom), as that of a contour with an area.
CONTORNO_HD inline unsigned long long list_of(unsigned of_class, const Box& box) {
  const unsigned first = row_of(box.top), difference = row_of(box.bottom) - first;
  int level = 0;
  while (1U << level <= difference) ++level;
  return list_of(of_class, level, first >> level);
}
/// The bits that lists of so many classes have.
inline int list_bits(int classes) {
  return static_cast<int>(std::bit_width(list_of(static_cast<unsigned>(classes), 0, 0)));
}

inline constexpr std::uint32_t kNoParent = 0xFFFFFFFF;

/// The contours around one, as they are found, in any order.
struct Around {
  unsigned depth = 0;
  unsigned parent = 0;  ///< the contour with the smallest area, the first of several
  std::uint64_t parent_area = std::numeric_limits<std::uint64_t>::max();

  /// `area` in the units of size_in_units, twice the area in px^2 times kSizeUnits.
  CONTORNO_HD void add(unsigned contour, std::uint64_t area) {
    ++depth;
    if (area > parent_area || (area == parent_area && contour > parent)) return;
    parent = contour, parent_area = area;
  }
  CONTORNO_HD std::uint32_t parent_or_none() const { return depth > 0 ? parent : kNoParent; }
};

CONTORNO_HD inline void write(const ContoursView& out, std::uint32_t contour, const Around& around) {
  out.column(Attribute::Number)[contour] = contour;
  out.column(Attribute::Depth)[contour] = around.depth;
  out.column(Attribute::Parent)[contour] = around.depth > 0 ? static_cast<double>(around.parent) : -1;
}

}  // namespace contorno::nesting
