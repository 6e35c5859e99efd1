// Putting reports of the same measurement together.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tools/latency/fields.h"
#include "tools/latency/report.h"

namespace contorno::latency {
namespace {

void merge_worst(std::vector<WorstFrame>& into, const std::vector<WorstFrame>& other) {
  const std::size_t most = std::max(into.size(), other.size());
  into.insert(into.end(), other.begin(), other.end());
  std::stable_sort(into.begin(), into.end(),
                   [](const WorstFrame& a, const WorstFrame& b) { return a.total_ms > b.total_ms; });
  into.resize(std::min(most, into.size()));
}

/// The time, in s, at which the last bin ends. All bins of a repeat have one width; a single bin is as long
/// as the measurement.
double end_of_series(const LatencyReport& report) {
  const std::vector<Bin>& series = report.series;
  if (series.empty()) return 0;
  const double last = series.back().begin_s;
  const double width = series.size() > 1 ? last - series[series.size() - 2].begin_s : 0;
  constexpr double kLeast_s = 1e-3;
  return last + (width > 0 ? width : std::max(kLeast_s, report.settings.duration_s));
}

}  // namespace

std::string difference_of_load(const Settings& one, const Settings& other) {
  const auto differ = [](std::string_view what, const auto& a, const auto& b) {
    return a == b ? std::string() : fmt::format("{}: {} and {}", what, a, b);
  };
  // What a rate means depends on the loop; a maximum that was searched for is no rate that was asked for.
  for (const std::string& difference :
       {differ("loop", std::string(name_of(one.loop)), std::string(name_of(other.loop))),
        differ("mode", std::string(name_of(one.mode)), std::string(name_of(other.mode))),
        one.mode == Mode::Saturate || one.mode == Mode::Pipeline
            ? ""
            : differ("frames a second", one.rate, other.rate),
        differ("arrival", one.arrival, other.arrival),
        one.mode == Mode::Cameras ? "" : differ("cameras", one.cameras, other.cameras),
        differ("deadline in ms", one.deadline_ms, other.deadline_ms),
        differ("until", std::string(name_of(one.until)), std::string(name_of(other.until))),
        differ("sinks", one.sinks, other.sinks)})
    if (!difference.empty()) return difference;
  return "";
}

std::string difference_of_input(const LatencyReport& one, const LatencyReport& other) {
  const std::string *a = one.fact(kInput), *b = other.fact(kInput);
  return a == nullptr || b == nullptr || *a == *b ? "" : fmt::format("the input: {} and {}", *a, *b);
}

std::string difference_of_cameras(const LatencyReport& one, const LatencyReport& other) {
  if (one.cameras.size() != other.cameras.size())
    return fmt::format("cameras: {} and {}", one.cameras.size(), other.cameras.size());
  const auto text = [](const CameraFigures& camera) {
    return fmt::format("{} at {:g} frames/s within {:g} ms", camera.name, camera.rate, camera.deadline_ms);
  };
  for (std::size_t i = 0; i < one.cameras.size(); ++i)
    if (const std::string a = text(one.cameras[i]), b = text(other.cameras[i]); a != b)
      return fmt::format("a camera: {} and {}", a, b);
  return "";
}

void merge(LatencyReport& into, const LatencyReport& other) {
  std::string difference = difference_of_load(into.settings, other.settings);
  if (difference.empty() && into.settings.graph_text != other.settings.graph_text)
    difference = "the text of the graph";
  // Parts of how many frames were timed is told by one number.
  if (difference.empty() && into.settings.probe_every != other.settings.probe_every)
    difference =
        fmt::format("--probe-every: {} and {}", into.settings.probe_every, other.settings.probe_every);
  if (difference.empty()) difference = difference_of_input(into, other);
  if (difference.empty()) difference = difference_of_cameras(into, other);
  if (!difference.empty())
    throw Error(
        ExitCode::BadOption,
        fmt::format("--from: reports of different measurements are not put together ({})", difference));
  into.frames.add(other.frames);
  for (std::size_t i = 0; i < into.cameras.size(); ++i) into.cameras[i].frames.add(other.cameras[i].frames);
  for (const Row& row : other.rows) {
    const auto own = std::find_if(into.rows.begin(), into.rows.end(),
                                  [&](const Row& mine) { return mine.times.name() == row.times.name(); });
    if (own == into.rows.end())
      into.rows.push_back(row);
    else
      own->times.merge(row.times);
  }
  merge_worst(into.worst, other.worst);
  merge_worst(into.worst_probed, other.worst_probed);
  const double shift = end_of_series(into);
  for (Bin bin : other.series) {
    bin.begin_s += shift;
    into.series.push_back(bin);
  }
  into.repeats.insert(into.repeats.end(), other.repeats.begin(), other.repeats.end());
  into.settings.repeats += other.settings.repeats;
  add_fields(into.resources, other.resources, kSummed);
  into.source_reconnections += other.source_reconnections;
  into.merged += other.merged;
  if (into.held_up.empty()) into.held_up = other.held_up;
}

}  // namespace contorno::latency
