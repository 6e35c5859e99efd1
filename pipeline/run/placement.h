// On which of several devices each camera works: a pure function of what they need and what the devices have.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

struct DeviceRoom {
  int device = 0;         ///< its number
  std::size_t bytes = 0;  ///< that were free before any camera came
  std::size_t taken = 0;  ///< of these, by cameras that were placed
  double load = 0;        ///< the sum of theirs
};

struct PlacementNeed {
  std::size_t bytes = 0;
  double load = 1;                    ///< in any unit, the same for all
  int device = BackendRequest::kAll;  ///< the one that it has to have, or any; then: the one that it got
};

/// Places all that come together, or none. First those that have to have a device, then the others, the
/// greatest load first (R. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM Journal on Applied
/// Mathematics 1969): each goes to the device with the least load among those where it fits, of equals to the
/// one with the most free memory, of these to the first in `rooms`. The result is the number of the one that
/// fits nowhere; then nothing has changed.
std::optional<std::size_t> place(std::vector<PlacementNeed>& needs, std::vector<DeviceRoom>& rooms);

}  // namespace contorno
