// Which rows of a report are compared, and which are drawn as parts of a frame's way.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/latency/charts.h"
#include "tools/latency/compare.h"

namespace contorno::latency {
namespace {

/// 400 frames of 60 ms.
LatencyReport report_with_whole() {
  LatencyReport report;
  report.settings.rate = 12;
  report.frames = {.offered = 400, .delivered = 400, .probed = 400};
  report.rows.push_back(
      {RowKind::EndToEnd, Distribution(kDueToResult, std::vector<std::int64_t>(400, 60'000'000))});
  report.rows.push_back({RowKind::Stage, Distribution("delay", std::vector<std::int64_t>(400, 59'000'000))});
  return report;
}

TEST_CASE("a part that takes less than 20 us in both measurements is not compared, in one of them it is") {
  const auto with_part = [](std::int64_t part_ns) {
    LatencyReport report = report_with_whole();
    report.rows.push_back({RowKind::Stage, Distribution("tiny", std::vector<std::int64_t>(400, part_ns))});
    return report;
  };
  const auto has_figure = [](const Comparison& all) {
    return std::any_of(all.figures.begin(), all.figures.end(),
                       [](const Figure& one) { return one.row == "tiny"; });
  };
  CHECK_FALSE(has_figure(compare(with_part(1'000), with_part(19'000), 0.02)));
  CHECK(has_figure(compare(with_part(1'000), with_part(21'000), 0.02)));
  CHECK(has_figure(compare(with_part(21'000), with_part(1'000), 0.02)));
}

TEST_CASE("the chart of parts has every part of a frame's way, those of sinks where these count") {
  LatencyReport report = report_with_whole();
  for (const auto& [kind, name] : {std::pair{RowKind::Interval, "between"},
                                   {RowKind::Traced, "traced"},
                                   {RowKind::Sink, "writer"},
                                   {RowKind::Stage, "queue of sink writer"}})
    report.rows.push_back({kind, Distribution(name, {2'000'000})});
  const auto is_shown = [&](const std::string& name) {
    return parts_chart(report).find(">" + name + "</text>") != std::string::npos;
  };
  for (const Until until : {Until::Result, Until::Sinks}) {
    report.settings.until = until;
    CHECK(is_shown("delay"));
    CHECK(is_shown("writer") == (until == Until::Sinks));
    CHECK(is_shown("queue of sink writer") == (until == Until::Sinks));
    CHECK_FALSE(is_shown(kDueToResult));
    CHECK_FALSE(is_shown("between"));
    CHECK_FALSE(is_shown("traced"));
  }
}

}  // namespace
}  // namespace contorno::latency
