// What passed the elements of a pipeline becomes the figures of a measurement.
#include <doctest/doctest.h>

#include "cuda/error.h"
#include "tools/latency/pipeline.h"

using namespace contorno;
using namespace contorno::latency;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Frames every 10 ms, which are at this place `after_ms` later.
PassedElement place(const std::string& name, std::int64_t frames, std::int64_t after_ms) {
  PassedElement one{.name = name, .passings = {}};
  for (std::int64_t frame = 0; frame < frames; ++frame)
    one.passings.push_back(
        {.pts_ns = frame * 10 * kMillisecond, .at_ns = (1000 + frame * 10 + after_ms) * kMillisecond});
  return one;
}

LatencyReport report_of(const PipelineTimes& times, double warm_up_s = 0) {
  latency::Settings settings;
  settings.mode = Mode::Pipeline;
  settings.until = Until::Sinks;
  settings.deadline_ms = 100;
  const Load load{.warm_up_s = warm_up_s, .duration_s = 10};
  return summarise(measured_from(times, load, 1000 * kMillisecond), settings, {.worst = 3});
}

double median_of(const LatencyReport& report, std::string_view row) {
  REQUIRE(report.row(row) != nullptr);
  return report.row(row)->percentile(0.5).ms;
}

}  // namespace

TEST_CASE("times of a pipeline are cut into its elements and counted to its sinks") {
  const PipelineTimes times{
      .live = true,
      .way = {place("camera", 200, 2), place("queue0", 200, 5), place("contorno0", 200, 12)},
      .sinks = {place("screen", 200, 20), place("lines", 200, 13)},
      .stamp_offset_ns = 1000 * kMillisecond};
  const LatencyReport report = report_of(times);
  CHECK(median_of(report, "due to result") == doctest::Approx(12));
  CHECK(median_of(report, "due to end of sinks") == doctest::Approx(20));
  CHECK(median_of(report, "timer and source") == doctest::Approx(2));
  CHECK(median_of(report, "queue0") == doctest::Approx(3));
  CHECK(median_of(report, "contorno0") == doctest::Approx(7));
  CHECK(median_of(report, "sink screen") == doctest::Approx(8));
  CHECK(median_of(report, "sink lines") == doctest::Approx(1));
  CHECK(report.row("queue") == nullptr);  // contorno's own, which a pipeline does not have
  CHECK(report.row("upload") == nullptr);
  CHECK(report.settings.source == "camera");
  CHECK(report.settings.rate == doctest::Approx(100));
  CHECK(report.settings.loop == Loop::Open);
  CHECK(report.frames.offered == 200);
  CHECK(report.frames.delivered == 200);
}

TEST_CASE("a source that is held up shows in the time since a frame was stamped") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 1)},
                      .sinks = {place("screen", 100, 1)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  for (std::vector<Passing>* passings :
       {&times.way[0].passings, &times.way[1].passings, &times.sinks[0].passings})
    for (std::size_t frame = 50; frame < 60; ++frame)  // half a second, in which the source cannot send
      (*passings)[frame].at_ns = passings->at(49).at_ns + 500 * kMillisecond;
  CHECK(report_of(times).row("due to end of sinks")->max_ms() > 480);
  times.stamp_offset_ns = 0;  // counted from when the source sends, it is hidden
  CHECK(report_of(times).row("due to end of sinks")->max_ms() < 2);
}

TEST_CASE("frames are counted from the first element that knows their times") {
  PipelineTimes times{.way = {place("filesrc0", 0, 0), place("demux", 50, 1), place("decoder", 50, 4),
                              place("contorno0", 50, 6)},
                      .sinks = {place("screen", 50, 7), place("speaker", 0, 0)}};
  times.way[0].passings.push_back({.pts_ns = 77, .at_ns = 3});
  const LatencyReport report = report_of(times);
  CHECK(report.settings.source == "demux");
  CHECK(report.settings.loop == Loop::Closed);
  CHECK(median_of(report, "due to end of sinks") == doctest::Approx(6));
  CHECK(report.row("sink speaker") == nullptr);
}

TEST_CASE(
    "frames that are lost on the way are dropped, those at the end under way, and each time counts once") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 2)},
                      .sinks = {place("screen", 95, 33)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  times.sinks[0].passings.erase(times.sinks[0].passings.begin() + 10, times.sinks[0].passings.begin() + 17);
  times.way[0].passings.push_back(times.way[0].passings[3]);
  const LatencyReport report = report_of(times);
  CHECK(report.frames.offered == 100);
  CHECK(report.frames.delivered == 88);
  CHECK(report.frames.dropped() == 7);
  CHECK(report.frames.in_flight == 5);
  CHECK(report.frames.longest_run == 7);
  CHECK(report.missing_frames.front() == 10);
}

TEST_CASE("a pipeline that gives nothing from some moment on has lost all frames but the last few") {
  const PipelineTimes times{.live = true,
                            .way = {place("camera", 200, 0), place("contorno0", 200, 2)},
                            .sinks = {place("screen", 50, 13)},
                            .stamp_offset_ns = 1000 * kMillisecond};
  const LatencyReport report = report_of(times);
  CHECK(report.frames.delivered == 50);
  // Frames come every 10 ms and take 13; the last is seen 2 ms after it was due.
  CHECK(report.frames.in_flight == 3);
  CHECK(report.frames.dropped() == 147);
}

TEST_CASE("the warm-up is left out, of what the tracers say too") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 2)},
                      .sinks = {place("screen", 100, 3)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  for (const std::int64_t at : {1001, 1499, 1501, 1900})
    times.traced.push_back({.what = "camera to screen", .at_ns = at * kMillisecond, .time_ns = at * 1000});
  const LatencyReport report = report_of(times, 0.5);
  CHECK(report.frames.offered == 50);
  CHECK(report.row("tracer: camera to screen")->count() == 2);
}

TEST_CASE("a pipeline through which no frame went is an error") {
  const PipelineTimes times{.way = {place("camera", 0, 0), place("contorno0", 0, 0)}};
  CHECK_THROWS_WITH_AS(report_of(times), doctest::Contains("no frame with a time came"), Error);
}
