// When a sample is high, and when a crossing point may fall exactly on a sample, for both backends. A sample
// is high if its value is above the level in float64; equal is low. Backends compare in the sample's own
// type, with highest_low; both say the same of every sample. Pure functions, no state.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "cuda/host_device.h"
#include "stages/shared/sample_value.h"

namespace contorno {

/// The largest number of type T that is not above the level: `sample > highest_low` is exactly
/// `sample > level`.
template <std::floating_point T>
T highest_low(double level) {
  const T nearest = static_cast<T>(level);
  return static_cast<double>(nearest) > level ? std::nextafter(nearest, -std::numeric_limits<T>::infinity())
                                              : nearest;
}

/// The largest stored integer from 0 to `most` whose value is not above the level, -1 if there is none. Found
/// with the division that crossing points use, so that a sample is high here exactly when it is high there.
inline int highest_low(int most, SampleScale scale, double level) {
  int low = -1;
  for (int above = most + 1; above - low > 1;) {
    const int middle = low + (above - low) / 2;
    (value_of(static_cast<std::uint16_t>(middle), scale) > level ? above : low) = middle;
  }
  return low;
}

}  // namespace contorno
