// The forms in which a report is shown: a table for a terminal, JSON for programs, a page for a browser, a
// trace of single frames.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/latency/report.h"
#include "tools/latency/verdicts.h"

namespace contorno::latency {

/// The verdict on a report and the answers to its assertions.
struct Judgement {
  Verdict verdict;
  std::vector<Assertion::Answer> assertions;
};

/// The report as text of several lines, at most about 110 characters wide.
std::string table_of(const LatencyReport& report, const Judgement& judgement);

/// The lines of times alone: those of whole frames, of their parts and between results.
std::string latency_rows(const LatencyReport& report);

/// The version of what json_of writes.
inline constexpr const char* kSchema = "contorno-latency/1";
/// The report as JSON, which docs/reference/latency.md describes.
std::string json_of(const LatencyReport& report, const Judgement& judgement);
/// Reads what json_of wrote; `name` is the file's, for messages. Throws Error(BadData).
LatencyReport report_from(const std::string& json, const std::string& name);

/// The report as one page of HTML, without any link to elsewhere.
std::string html_of(const LatencyReport& report, const Judgement& judgement);

/// A row a frame: camera, frame, outcome, and its times in ns, from when the first frame was due.
std::string csv_of(const GraphSpec& graph, const std::vector<Measurement>& repeats);

/// Chrome's JSON for Perfetto: the `most` slowest frames, the `most` slowest of those that were probed, and
/// those that were under way at the same time, a track each.
std::string trace_of(const GraphSpec& graph, const std::vector<Measurement>& repeats, Until until,
                     std::size_t most);

/// "1 camera, open loop, fixed arrivals, 10 frames/s ...": what was asked for, in a line.
std::string load_text(const LatencyReport& report);
/// The name of a camera of `sources:`; else "camera 2", with that noun.
std::string name_of_camera(const LatencyReport& report, int number, std::string_view noun);
/// "10 frames/s within 100 ms: 600 offered = ...; 0 missed"
std::string camera_text(const CameraFigures& camera, Mode mode);
/// Why a frame was dropped that no deadline made drop.
const char* reason_of_drops(Mode mode);
/// A line each; empty where it is not known.
std::string resources_text(const LatencyReport& report);
std::string memory_text(const Memory& memory);
std::string probe_text(const ProbeCost& cost, double deadline_ms);
/// Says of how many frames the parts were timed; empty where of all.
std::string probed_text(const LatencyReport& report);
std::string allocations_text(const FrameAllocations& allocations);

}  // namespace contorno::latency
