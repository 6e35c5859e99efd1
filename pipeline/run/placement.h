// On which of several devices each camera works: a pure function of what they need and what the devices have.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

/// A device and what was placed on it so far. Bytes are of its memory.
struct DeviceRoom {
  int device = 0;         ///< its number, as CUDA counts
  std::size_t bytes = 0;  ///< free before any camera was placed
  std::size_t taken = 0;  ///< bytes of these that the cameras take that were placed
  double load = 0;        ///< sum of the loads of these cameras
};

/// What one camera needs.
struct PlacementNeed {
  std::size_t bytes = 0;  ///< of the device's memory
  /// How much it has to do, in any unit that all cameras share. Devices count as equally fast.
  double load = 1;
  /// The device that the camera's graph names, or kAll ("cuda:all") where any will do; after `place` the one
  /// that it got, which it keeps if it is placed again.
  int device = BackendRequest::kAll;
};

/// Places all cameras that come together, or none: first those whose graph names a device, on that one; then
/// the others, those of the greatest load first (R. Graham, "Bounds on Multiprocessing Timing Anomalies",
/// SIAM Journal on Applied Mathematics 1969). Each of these goes to the device of the least load among those
/// with enough memory left (`bytes` - `taken`); of equal loads to the one with most memory left, so that
/// cameras which come later, and need more, find room. The result is the place in `needs` of the first camera
/// for which no device has room in this order, and nothing has changed then; another order might find some.
/// Does not throw, but for std::bad_alloc.
std::optional<std::size_t> place(std::vector<PlacementNeed>& needs, std::vector<DeviceRoom>& rooms);

}  // namespace contorno
