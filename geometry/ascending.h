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

}  // namespace contorno
