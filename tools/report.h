// Writes the report of a run: as JSON for programs, as a short text for users.
#pragma once

#include <string>

#include "pipeline/run/stats.h"

namespace contorno {

/// The run report as JSON (see docs/reference/report.md for the fields). `graph_file` and `graph_text` say
/// what was run.
std::string report_json(const RunReport& report, const std::string& graph_file,
                        const std::string& graph_text);

/// The closing message of `contorno run`: counts, rate, latency, what the sinks made.
std::string report_text(const RunReport& report);

}  // namespace contorno
