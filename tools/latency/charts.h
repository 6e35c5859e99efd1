// Charts of a report as SVG, to stand in a page: no script, no font and no picture from elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/latency/report.h"

namespace contorno::latency {

/// How many frames took how long, with the deadline.
std::string histogram_chart(const LatencyReport& report);
/// The time at every percentile, up to those that single frames stand for.
std::string percentile_chart(const LatencyReport& report);
/// Median and maximum of the frames that were due at a time; frames without result in red.
std::string series_chart(const LatencyReport& report);
/// Where the time of a frame goes: the parts' medians, and those of the slowest frames.
std::string parts_chart(const LatencyReport& report);
/// When the parts of each of some slow frames began and ended, all on one scale; empty where nobody knows.
std::string timeline_charts(const LatencyReport& report, const std::vector<WorstFrame>& frames);

/// 1, 2 or 5 times a power of ten: the step of about `count` ticks up to `most`.
double tick_step(double most, int count);
/// The colour of the part that has this name, the same in all charts of a report.
const char* colour_of_part(const LatencyReport& report, std::string_view name);
/// "#7", with its camera where there are several.
std::string label_of(const LatencyReport& report, const WorstFrame& frame);

}  // namespace contorno::latency
