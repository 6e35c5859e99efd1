// Watches the cameras of a fleet while they run: shows progress, passes signals on, says when a live source
// falls silent and what becomes of cameras with names, gives up on a device that hangs, and tells systemd
// that all threads get on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "pipeline/run/fleet.h"

namespace contorno {

class ServiceManager;  // tools/service_manager.h

struct WatchOptions {
  bool quiet = false;                  ///< nothing is shown but what ends the run
  bool tells_states = true;            ///< the states of cameras with names are shown
  bool live = false;                   ///< one live camera without a name, whose silence is worth a message
  std::int64_t expected = -1;          ///< frames that will come; -1 = unknown or endless
  double device_timeout_ms = 0;        ///< see PipelineSettings
  std::function<void()> account;       ///< writes the report of a run that was given up
  std::function<void()> on_look = {};  ///< called at every look, for what else has to be watched
  ServiceManager* service = nullptr;   ///< is told how the cameras get on; borrowed, null: nobody
  /// Called at every look with what ProgressJudge says.
  std::function<void(const std::optional<std::string>& hang)> on_progress = {};
  std::chrono::milliseconds between{50};  ///< looks
};

/// "23 of 51 frames (45 %), 3 s left, 10.0/s, 29.0 ms, 2 dropped": what a run has done after `seconds`. The
/// total, the time left and the latency are left out when unknown, dropped and failed frames when there are
/// none.
std::string progress_text(const FrameCounts& frames, std::int64_t expected, double latency_us,
                          double seconds);

/// Starts a fleet and watches it until all have ended; throws what Fleet::start throws. Where a device hangs,
/// does not return: once the cameras of other devices have ended, outputs are finished, the report is
/// written, and the process ends with exit code 70.
void watch_fleet(Fleet& fleet, const WatchOptions& options);

/// Runs one runner as a fleet of one, and throws what Runner::run throws.
RunReport run_watched(Runner& runner, const WatchOptions& options);

}  // namespace contorno
