// Which segments follow each other where several meet on one sample, for both backends: a crossing point that
// falls exactly on a sample is an end of up to eight segments, of the four cells around it. They pair as in
// scikit-image, which visits segments in raster order and remembers at most one unpaired arriving segment and
// one unpaired leaving segment. A segment pairs with the remembered one of the other kind; if there is none
// it is remembered itself, in place of an earlier one of its own kind. Pure functions.
#pragma once

#include "base/host_device.h"

namespace contorno {

/// Segments around a sample are numbered 2 * quadrant + number in the cell, with the quadrants NW, NE, SW,
/// SE, which is raster order. A word `ends` has two bits for each: bit 2 * k is set if segment k leaves the
/// sample, bit 2 * k + 1 if it arrives there.
inline constexpr int kAroundSample = 8;
CONTORNO_HD constexpr unsigned leaving_end(int segment) {
  return 1U << (2 * segment);
}
CONTORNO_HD constexpr unsigned arriving_end(int segment) {
  return 2U << (2 * segment);
}

/// Forward: the segment that follows `segment`, which arrives at the sample. Backward: the one before
/// `segment`, which leaves it. -1: none.
template <bool kForward>
CONTORNO_HD constexpr int neighbour_at_sample(unsigned ends, int segment) {
  int waiting_start = -1;
  int waiting_end = -1;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int k = 0; k < kAroundSample; ++k) {
    int arriving = waiting_end;
    int leaving = k;
    if ((ends & arriving_end(k)) != 0) {
      if (waiting_start < 0) {
        waiting_end = k;
        continue;
      }
      arriving = k;
      leaving = waiting_start;
      waiting_start = -1;
    } else if ((ends & leaving_end(k)) != 0) {
      if (waiting_end < 0) {
        waiting_start = k;
        continue;
      }
      waiting_end = -1;
    } else {
      continue;
    }
    if ((kForward ? arriving : leaving) == segment) return kForward ? leaving : arriving;
  }
  return -1;
}

}  // namespace contorno
