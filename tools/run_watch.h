// What is done beside a run: progress is shown, signals are passed on, and who is missed is named.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pipeline/run/runner.h"

namespace contorno {

struct WatchOptions {
  bool quiet = false;             ///< nothing is shown, but what ends the run
  bool live = false;              ///< frames are expected to come by themselves
  std::int64_t expected = -1;     ///< frames that will come; -1 = unknown or endless
  double device_timeout_ms = 0;   ///< see PipelineSettings
  std::function<void()> account;  ///< writes the report of a run that was given up
};

/// "23 of 51 frames (45 %), 10.0/s, 3 s left, 29 ms, 2 dropped": what a run has done after `seconds`. What is
/// 0 or unknown is left out.
std::string progress_text(const FrameCounts& frames, std::int64_t expected, double latency_us,
                          double seconds);

/// Runs with a second thread that watches; throws what Runner::run throws. Where the device hangs the process
/// ends in here: outputs are finished, the report is written, exit code 70.
RunReport run_watched(Runner& runner, const WatchOptions& options);

}  // namespace contorno
