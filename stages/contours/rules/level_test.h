// When a sample is high, and when a crossing point may fall exactly on a sample, for both backends. A sample
// is high if its value is above the level in float64; equal is low. Backends compare in the sample's own
// type, with highest_low; both say the same of every sample. Pure functions, no state.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "base/host_device.h"
#include "pipeline/value/image.h"
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

// Where a crossing point can fall on a sample.

/// A crossing point rounds onto a sample only if the sample's distance from the level is at most this part of
/// the distance between the two samples: coordinates are below 2^16 and doubles have 53 bits, so it is half
/// the gap between the doubles from 2^15 on.
inline constexpr double kRoundsOntoSample = 0x1p-38;
static_assert(kMaxSide <= 1 << 16);

/// Samples whose distances from the level all lie between kNear and kFar times max(1, |level|) are safe: no
/// crossing point falls on them, whatever neighbours they have. Twice as near would do: distances are
/// rounded, and taken from a level that is rounded to the type of the samples.
inline constexpr double kNear = 0x1p-19, kFar = 0x1p17;
static_assert(kNear >= 2 * kRoundsOntoSample * (kFar + kFar));
static_assert(kNear >= 16 * static_cast<double>(std::numeric_limits<float>::epsilon()));

/// Several samples together are safe if their least distance from the level is above this part of the
/// greatest, and far above the rounding of the level.
inline constexpr double kLeastOfGreatest = 0x1p-34;
static_assert(kLeastOfGreatest >= 2 * kRoundsOntoSample * (1 + 1));

/// What safe samples of a type are farther from the level than, and nearer.
template <std::floating_point T>
struct SafeDistances {
  T near, far;
};
/// `magnitude` is max(1, |level|) in the samples' unit. Between samples at the greatest distance the
/// difference does not overflow; one that is infinite or NaN is never safe.
template <std::floating_point T>
CONTORNO_HD constexpr SafeDistances<T> safe_distances(T magnitude) {
  constexpr T kMost = std::numeric_limits<T>::max() / 4;
  const T near = magnitude * static_cast<T>(kNear), far = magnitude * static_cast<T>(kFar);
  return {near, far < kMost ? far : kMost};
}

}  // namespace contorno
