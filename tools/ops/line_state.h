// What the pages of operation say of a line of cameras. Pure: what is seen of the line, and the times, are
// the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/camera_state.h"
#include "pipeline/run/stats.h"
#include "plugins/publish/outbox.h"
#include "tools/ops/latency_counts.h"

namespace contorno {

struct CameraLook {
  std::string name{};
  CameraState state = CameraState::Connecting;
  bool required = false;
  bool device_broke = false;
  FrameCounts frames{};
  std::uint64_t reconnections = 0;
  int level = 0;           ///< of quality; 0: full
  double lag_s = 0;        ///< age of its oldest frame without a result
  std::string fallback{};  ///< why it runs on the CPU, where a device was asked for; empty: it does not
  const LatencyCounts* latency = nullptr;  ///< borrowed; null: none is counted
};

struct LineLook {
  std::vector<CameraLook> cameras{};
  std::vector<OutboxStatus> outboxes{};
  std::optional<std::string> hang{};  ///< what ProgressJudge said last
  double since_look_s = 0;            ///< how long ago that was
  double max_lag_s = 0;               ///< of a line that is ready; 0: any
  int broken_before = 0;              ///< runs in a row whose device broke, before this one
  double started_s = 0;               ///< Unix time
  const char* version = "";
};

/// All metrics, in the text of OpenMetrics.
std::string metrics_text(const LineLook& line);

/// Why the line is not well; empty: it is. Health is about threads: somebody has to restart a line that is
/// not healthy. Readiness is about what it needs: device, required cameras, room in its outboxes, and time.
std::string health_fault(const LineLook& line);
std::string readiness_fault(const LineLook& line);
/// What a line that is well does with less than was asked for: a line of text for each camera without its
/// device.
std::string fallback_notes(const LineLook& line);

}  // namespace contorno
