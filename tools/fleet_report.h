// The report of a graph with `sources:`: that of each camera, and the sums. As JSON for programs, as a short
// text for users.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run/camera_state.h"
#include "pipeline/run/stats.h"

namespace contorno {

struct CameraOutcome {
  std::string name;
  CameraState state = CameraState::Connecting;  ///< at the end
  RunReport report;
  std::string failure;           ///< what ended it; empty: nothing
  ExitCode code = ExitCode::Ok;  ///< of the failure
};

std::string fleet_report_json(const std::vector<CameraOutcome>& cameras, const std::string& graph_file,
                              const std::string& graph_text);
std::string fleet_report_text(const std::vector<CameraOutcome>& cameras);

}  // namespace contorno
