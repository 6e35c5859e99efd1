// The pages /metrics, /healthz and /readyz of a line of cameras that runs. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/run/fleet.h"
#include "plugins/ops/ops.h"
#include "tools/ops/line_state.h"

namespace contorno {

class LinePages {
 public:
  /// See LineLook.
  LinePages(int broken_before, double max_lag_s);

  using LatencyOf = std::function<const LatencyCounts*(std::size_t camera)>;
  /// The cameras are shown from now on, until the result is destroyed; everything is borrowed until then.
  class Shown {
   public:
    Shown(LinePages& pages, const Fleet& fleet, LatencyOf latency);
    ~Shown();
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    LinePages& pages_;
  };

  /// What ProgressJudge has said; whoever watches calls it at every look.
  void note_progress(const std::optional<std::string>& hang);
  /// Nothing: there is no such page.
  std::optional<OpsPage> page(std::string_view path);

 private:
  LineLook look();

  const double started_s_;
  const int broken_before_;
  const double max_lag_s_;
  std::mutex mutex_;  // guards what follows
  const Fleet* fleet_ = nullptr;
  LatencyOf latency_;
  std::optional<std::string> hang_;
  std::int64_t looked_ns_;
};

}  // namespace contorno
