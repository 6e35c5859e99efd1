// An index of boxes by rows, for host and device: it finds all boxes of a class that have some row of an
// interval. At level l the rows are divided into lists of 2^l rows: list i has rows i 2^l to (i + 1) 2^l - 1.
// A box from its first to its last row is entered once: at the lowest level with 2^l greater than the
// difference of the two rows, in the list of its first row. So it ends in that list or the next one, and a
// box that has a row is, on its level, in the list of the row or in the one before. Whoever sorts boxes by
// the numbers of their lists finds those of neighbouring lists together.
#pragma once

#include <bit>

#include "base/host_device.h"
#include "geometry/box.h"

namespace contorno::row_lists {

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
/// The list in which a box is entered; it is not empty (top <= bottom).
CONTORNO_HD inline unsigned long long list_of(unsigned of_class, double top, double bottom) {
  const unsigned first = row_of(top), difference = row_of(bottom) - first;
  int level = 0;
  while (1U << level <= difference) ++level;
  return list_of(of_class, level, first >> level);
}
CONTORNO_HD inline unsigned long long list_of(unsigned of_class, const Box& box) {
  return list_of(of_class, box.top, box.bottom);
}
CONTORNO_HD inline int level_of(unsigned long long list) {
  return static_cast<int>((list >> kRowBits) % kLevels);
}
/// The bits that lists of so many classes have.
inline int list_bits(int classes) {
  return static_cast<int>(std::bit_width(list_of(static_cast<unsigned>(classes), 0, 0)));
}

/// The lists of a level that may have boxes with a row from `top` to `bottom`.
struct Lists {
  unsigned long long first, last;
  CONTORNO_HD Lists(unsigned of_class, int level, double top, double bottom)
      : last(list_of(of_class, level, row_of(bottom) >> level)) {
    const unsigned list = row_of(top) >> level;
    first = list_of(of_class, level, list > 0 ? list - 1 : 0);
  }
};

}  // namespace contorno::row_lists
