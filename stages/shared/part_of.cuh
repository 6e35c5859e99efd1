// Device functions that find the part to which an element belongs, where parts lie one behind another: the
// contour of a point by the offsets of the contours, the class of a contour by the begins of the classes.
#pragma once

#include "cuda/launch.cuh"

namespace contorno {

/// The last i with begin[i] <= value. `begin` has `count` + 1 ascending numbers, the first of which is 0 and
/// the last above `value`.
__device__ inline unsigned part_of(const unsigned* begin, unsigned count, unsigned value) {
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

/// part_of for whole warps whose lanes have ascending values: the lanes search 32 places at once for the
/// first value, and each continues from there.
__device__ inline unsigned part_of_lane(const unsigned* begin, unsigned count, unsigned value) {
  const unsigned first_value = __shfl_sync(~0U, value, 0), lane = threadIdx.x % 32;
  unsigned low = 0, high = count;  // begin[low] <= first_value < begin[high]
  while (high - low > 1) {
    const unsigned step = (high - low + 31) / 32, at = low + lane * step;
    const unsigned below = __ballot_sync(~0U, at < high && begin[at] <= first_value);
    const unsigned last = 31U - static_cast<unsigned>(__clz(static_cast<int>(below)));
    low += last * step;
    high = low + step < high ? low + step : high;
  }
  while (low + 1 < count && begin[low + 1] <= value) ++low;
  return low;
}

}  // namespace contorno
