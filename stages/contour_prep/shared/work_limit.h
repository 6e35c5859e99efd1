// How much a step does for one contour on a device, where the worst contours cost the square of their points
// and the CPU, which works on one point after the other, does better. What is beyond the limit is refused
// instead of being computed until the device is given up (device_timeout).
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace contorno {

/// A step with such a limit has one as its member `work`, and throw_too_much_work(points), which throws
/// Error(BadData). Its stage (per_contour.h) fills it in.
struct WorkLimit {
  /// Points that are looked at for one contour. Contours of maps need up to some 50 looks a point; this is
  /// the square of 131,072 points.
  static constexpr std::uint64_t kMostLooks = std::uint64_t{1} << 34;

  std::uint64_t most = kMostLooks;
  /// Page-locked: the points of a contour that needs more, 0 as long as there is none. Null: every contour
  /// that has room is within the limit.
  unsigned* refused = nullptr;

  /// Whether a contour of so many points can be beyond the limit.
  bool can_be_met(std::uint64_t points) const { return points > 0 && points > most / points; }
  CONTORNO_HD bool is_met(std::uint64_t looks) const { return refused != nullptr && looks > most; }
};

}  // namespace contorno
