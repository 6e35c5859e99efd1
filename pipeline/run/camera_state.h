// What a camera of a fleet is doing, decided from what is seen of it. Pure: the times are the caller's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace contorno {

/// `Blocked` and `Stalled` exclude each other: we hold the camera up, or it gives us nothing.
enum class CameraState : std::uint8_t {
  Connecting,  ///< it has not been there yet, or waits for those that are required
  Running,
  Stalled,  ///< it is open, and no frame has come for LiveSettings::stall_ms
  Blocked,  ///< it has had a frame for as long, for which there is no slot
  Lost,     ///< it was there, and is being opened again
  Ended,
  Failed,  ///< it could not be opened or run, for a reason that does not pass
};

inline std::string_view name_of(CameraState state) {
  switch (state) {
    case CameraState::Connecting:
      return "connecting";
    case CameraState::Running:
      return "running";
    case CameraState::Stalled:
      return "stalled";
    case CameraState::Blocked:
      return "blocked";
    case CameraState::Lost:
      return "lost";
    case CameraState::Ended:
      return "ended";
    case CameraState::Failed:
      return "failed";
  }
  throw InternalError("unknown state of a camera");
}

/// Where a camera is on its way; it goes through them in this order.
enum class CameraPhase : std::uint8_t { Connecting, Running, Ended, Failed };

/// What is seen of a camera. Times are now_ns() values.
struct CameraSigns {
  CameraPhase phase = CameraPhase::Connecting;
  bool away = false;             ///< its source is being opened again
  std::uint64_t frames = 0;      ///< that have come
  std::int64_t began_ns = 0;     ///< when it could give frames, first or again
  std::int64_t arrived_ns = 0;   ///< when the last frame arrived; 0: none has
  std::int64_t interval_ns = 0;  ///< between frames, measured or declared; 0: unknown
  std::int64_t held_ns = 0;      ///< since when its reader has had a frame that finds no slot; 0: it has none
};

/// After how long without a frame a camera is stalled; `wanted_ns` 0: the greater of 1 s and four intervals.
inline std::int64_t stall_after(const CameraSigns& signs, std::int64_t wanted_ns) {
  constexpr std::int64_t kShortest = 1'000'000'000;
  return wanted_ns > 0 ? wanted_ns : std::max(kShortest, 4 * signs.interval_ns);
}

inline CameraState state_of(const CameraSigns& signs, std::int64_t wanted_stall_ns, std::int64_t now_ns) {
  switch (signs.phase) {
    case CameraPhase::Connecting:
      return CameraState::Connecting;
    case CameraPhase::Ended:
      return CameraState::Ended;
    case CameraPhase::Failed:
      return CameraState::Failed;
    case CameraPhase::Running:
      break;
  }
  if (signs.away) return CameraState::Lost;
  const std::int64_t limit = stall_after(signs, wanted_stall_ns);
  if (signs.held_ns != 0) return now_ns - signs.held_ns > limit ? CameraState::Blocked : CameraState::Running;
  return now_ns - std::max(signs.arrived_ns, signs.began_ns) > limit ? CameraState::Stalled
                                                                     : CameraState::Running;
}

}  // namespace contorno
