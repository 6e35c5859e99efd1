// Searching in numbers that ascend, on the host and on a device.
#pragma once

#include <type_traits>

#include "base/host_device.h"

namespace contorno {

/// The place of the first of `count` ascending numbers that is not less than `least`: how many of them are
/// less; `count` where all are.
template <class Count, class Number>
CONTORNO_HD Count lower_bound_of(const Number* ascending, Count count, std::type_identity_t<Number> least) {
  Count low = 0;
  while (low < count) {
    const Count middle = low + (count - low) / 2;
    if (ascending[middle] < least)
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

/// The part to which an element belongs, where parts lie one behind another: the contour of a point by the
/// offsets of the contours, the class of a contour by the begins of the classes. The last i with begin[i] <=
/// value. `begin` has `count` + 1 ascending numbers, the first of which is 0 and the last above `value`.
CONTORNO_HD inline unsigned part_of(const unsigned* begin, unsigned count, unsigned value) {
  unsigned low = 0, high = count;
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    if (begin[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

}  // namespace contorno
