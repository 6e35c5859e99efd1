// The parts of a report as JSON, of which those of one run and of several cameras are made.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/run/stats.h"

namespace contorno {

/// What was run, and by which build: the first members of a report.
nlohmann::ordered_json report_head(const std::string& graph_file, const std::string& graph_text);
/// Everything else that is said of one run.
nlohmann::ordered_json report_object(const RunReport& report);
nlohmann::ordered_json frames_object(const FrameCounts& frames);
/// The text of a report, with the passwords in it masked.
std::string report_lines(nlohmann::ordered_json json);

}  // namespace contorno
