// Sums over the points of a contour with the same bits on both backends: item i adds to lane i % 32 of a sum,
// and the lanes are added up in pairs. A warp does so on a device, a loop over lanes on the host.
#pragma once

namespace contorno {

inline constexpr unsigned kLanes = 32;

/// The sums of all lanes, a power of two, added up in pairs.
template <class Sums, unsigned kCount>
Sums sum_of_lanes(Sums (&lanes)[kCount]) {
  for (unsigned step = kCount / 2; step > 0; step /= 2)
    for (unsigned lane = 0; lane < step; ++lane) lanes[lane].add(lanes[lane + step]);
  return lanes[0];
}

}  // namespace contorno
