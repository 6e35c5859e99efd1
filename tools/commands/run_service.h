// What surrounds a run of `contorno run` that goes on for months: systemd is told how it gets on, a device
// that broke is opened again later and later, and pages say over HTTP how the line is.
#pragma once

#include <memory>
#include <optional>

#include "pipeline/run/ops_settings.h"
#include "tools/commands/run_cameras.h"
#include "tools/ops/line_pages.h"
#include "tools/restart_wait.h"
#include "tools/run_watch.h"
#include "tools/service_manager.h"

namespace contorno {

class RunService {
 public:
  /// Before the device is opened. False: a signal asked for an end meanwhile.
  bool wait_for_device() { return restarts_.wait(manager_); }
  /// Listens as the graph wants, and says where. Throws Error(CannotCreate), ModuleError.
  void listen(const OpsSettings& settings);
  bool has_pages() const { return pages_.has_value(); }
  /// The cameras are on the pages until the result is destroyed. Everything is borrowed until then.
  std::unique_ptr<LinePages::Shown> show(const Fleet& fleet, const RunCameras& cameras);
  /// Completes what a watch needs.
  WatchOptions watched(WatchOptions options);
  void note_end(int code) { restarts_.note_end(code); }

 private:
  ServiceManager manager_;
  RestartGuard restarts_;
  std::optional<LinePages> pages_;
  std::unique_ptr<OpsServer> server_;  // last: its thread asks the pages
};

}  // namespace contorno
