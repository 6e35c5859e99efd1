// What is done beside a run: progress is shown, signals are passed on, and who is missed is named.
#pragma once

#include <functional>

#include "pipeline/runner.h"

namespace contorno {

struct WatchOptions {
  bool quiet = false;             ///< nothing is shown, but what ends the run
  bool live = false;              ///< frames are expected to come by themselves
  double device_timeout_ms = 0;   ///< see PipelineSettings
  std::function<void()> account;  ///< writes the report of a run that was given up
};

/// Runs with a second thread that watches; throws what Runner::run throws. Where the device hangs the process
/// ends in here: outputs are finished, the report is written, exit code 70.
RunReport run_watched(Runner& runner, const WatchOptions& options);

}  // namespace contorno
