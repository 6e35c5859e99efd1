// What passed the elements of a pipeline becomes the figures of a measurement.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tools/latency/owed.h"
#include "tools/latency/pipeline.h"
#include "tools/latency/verdicts.h"

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
  return summarise(measured_from(times, load, settings.deadline_ms, 1000 * kMillisecond), settings,
                   {.worst = 3});
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

TEST_CASE("frames are lost where nothing comes to any sink, and a sink of something else is named") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 200, 0), place("contorno0", 200, 2)},
                      .sinks = {place("screen", 0, 0), place("lines", 0, 0)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  const LatencyReport report = report_of(times);
  CHECK(report.frames.delivered == 0);
  CHECK(report.frames.dropped() + report.frames.in_flight == 200);
  CHECK(verdict_of(report).state == Verdict::State::Fail);
  times.sinks[1].kept.push_back(
      {.from_ns = 2000 * kMillisecond, .to_ns = 2001 * kMillisecond});  // no time of a frame
  const MeasuredPipeline measured =
      measured_from(times, {.warm_up_s = 0, .duration_s = 10}, 100, 1000 * kMillisecond);
  CHECK(measured.not_counted == std::vector<std::string>{"screen", "lines"});
  CHECK(report_of(times).frames.delivered == 200);
}

TEST_CASE("what a live source owed counts as missed when a sink stops for good") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 105, 0), place("contorno0", 103, 2)},
                      .sinks = {place("screen", 100, 3)},
                      .stamp_offset_ns = 1000 * kMillisecond,
                      .stopped_ns = 3000 * kMillisecond};
  times.way[0].rate = 100;
  times.sinks[0].held_since_ns = 1993 * kMillisecond;
  const LatencyReport report = report_of(times);
  CHECK(report.frames.offered == 201);  // due at 0 to 2 s, both included
  CHECK(report.frames.delivered == 100);
  CHECK(report.frames.ring_full == 5);
  CHECK(report.frames.in_flight == 1);  // frames took 3 ms: only the last may be on its way
  CHECK(report.frames.not_sent == 95);
  CHECK(report.settings.rate == doctest::Approx(100));
  const Verdict verdict = verdict_of(report);
  CHECK(verdict.state == Verdict::State::Fail);
  CHECK(
      verdict.sentence.find("the sink 'screen' took a frame 1.007 s before the end and did not come back") !=
      std::string::npos);
}

TEST_CASE("frames that a live source left out while held up are owed, without caps by its steps") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 2)},
                      .sinks = {place("screen", 100, 3)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  for (std::vector<Passing>* passings :
       {&times.way[0].passings, &times.way[1].passings, &times.sinks[0].passings})
    passings->erase(passings->begin() + 40, passings->begin() + 60);  // its own driver dropped them
  const LatencyReport report = report_of(times);
  CHECK(report.frames.offered == 100);
  CHECK(report.frames.delivered == 80);
  CHECK(report.frames.not_sent == 20);
  CHECK(report.frames.longest_run == 20);
  CHECK(report.missing_frames.front() == 40);
}

TEST_CASE(
    "a source without a rate owes nothing, nor does one that came to its end, nor one that is not live") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 2)},
                      .sinks = {place("screen", 100, 3)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  CHECK(report_of(times).frames.offered == 100);  // it ended by itself
  times.stopped_ns = 2500 * kMillisecond;
  CHECK(report_of(times).frames.not_sent > 40);
  times.live = false;
  CHECK(report_of(times).frames.offered == 100);
  times.live = true;
  for (std::vector<Passing>* passings :
       {&times.way[0].passings, &times.way[1].passings, &times.sinks[0].passings})
    for (std::int64_t frame = 0; frame < 100; ++frame)  // as something moves: steps grow
      (*passings)[static_cast<std::size_t>(frame)] = {.pts_ns = frame * frame * kMillisecond / 10,
                                                      .at_ns = (1003 + frame * frame / 10) * kMillisecond};
  CHECK(report_of(times).frames.offered == 100);
}

TEST_CASE("of frames that a source owed those count that were due from the begin on") {
  const auto due_of = [](std::int64_t begin_ms) {
    std::vector<DueFrame> frames(2);
    frames[1].due_ns = 1000 * kMillisecond;
    std::vector<std::int64_t> due;
    for (const DueFrame& one : with_owed(frames, 10, begin_ms * kMillisecond, 1250 * kMillisecond))
      due.push_back(one.due_ns / kMillisecond);
    return due;
  };
  using Times = std::vector<std::int64_t>;
  CHECK(due_of(0) == Times{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200});
  CHECK(due_of(650) == Times{0, 700, 800, 900, 1000, 1100, 1200});
  CHECK(due_of(700) == Times{0, 700, 800, 900, 1000, 1100, 1200});
  CHECK(due_of(1150) == Times{0, 1000, 1200});
}

TEST_CASE("a rate that cannot be is refused and not counted for ever") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 2)},
                      .sinks = {place("screen", 100, 3)},
                      .stamp_offset_ns = 1000 * kMillisecond,
                      .stopped_ns = 62'000 * kMillisecond};
  times.way[0].rate = 2'147'483'647;
  CHECK_THROWS_WITH_AS(report_of(times), doctest::Contains("caps with its rate"), Error);
  // Nor do times that jump by years make frames that were due before the measurement began.
  times.way[0].rate = 100;
  times.way[0].passings[0].pts_ns = -100'000'000'000'000'000;
  CHECK(report_of(times).frames.offered < 6300);
}

TEST_CASE("a sink that keeps frames for longer than they take to come is named, the others are not") {
  PipelineTimes times{.live = true,
                      .way = {place("camera", 100, 0), place("contorno0", 100, 2)},
                      .sinks = {place("screen", 100, 120), place("lines", 100, 3)},
                      .stamp_offset_ns = 1000 * kMillisecond};
  for (std::int64_t frame = 0; frame < 100; ++frame) {
    times.sinks[0].kept.push_back({frame * 40 * kMillisecond, (frame + 1) * 40 * kMillisecond});
    times.sinks[1].kept.push_back({frame * 40 * kMillisecond, (frame * 40 + 10) * kMillisecond});
  }
  const LatencyReport report = report_of(times);
  CHECK(median_of(report, "in sink screen") == doctest::Approx(40));
  const std::string said = verdict_of(report).sentence;
  CHECK(said.find("sink screen keeps a frame for 40 ms on average, but frames come every 10 ms") !=
        std::string::npos);
  CHECK(said.find("lines") == std::string::npos);
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
