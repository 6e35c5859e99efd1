// A point of a contour in double precision, as it is computed and as find_contours gives it.
#pragma once

#include "base/host_device.h"

namespace contorno {

/// A contour point before it is rounded, in samples.
struct PointD {
  double row = 0, col = 0;
  CONTORNO_HD constexpr bool operator==(const PointD& other) const {
    return row == other.row && col == other.col;
  }
};

}  // namespace contorno
