// From times that are written down by hand, frame by frame, to the figures, the table of frames and the
// trace.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tools/latency/measured.h"
#include "tools/latency/show.h"
#include "tools/latency/verdicts.h"

namespace contorno::latency {
namespace {

using doctest::Approx;

constexpr std::int64_t kMilli = 1'000'000;

GraphSpec graph_with(const std::vector<std::string>& sinks) {
  GraphSpec graph;
  for (const std::string& name : sinks) graph.sinks.push_back({.name = name});
  return graph;
}

/// What became of a frame that was due at `due_ms` behind the start: each of its times in ms behind that one,
/// in the order of Columns; a negative one did not happen.
struct Noted {
  double due_ms;
  std::vector<double> times_ms;
  Outcome outcome = Outcome::Delivered;
};

/// A frame with its parts: arrived after 1 ms, launched after 2, started after 2.5, uploaded after 3,
/// downloaded 1 ms before its result.
Noted timed(double due_ms, double result_ms, const std::vector<double>& sinks = {}) {
  Noted noted{due_ms, {1, 2, 2.5, 3, result_ms - 1, result_ms}};
  noted.times_ms.insert(noted.times_ms.end(), sinks.begin(), sinks.end());
  return noted;
}
Noted untimed(double due_ms, double result_ms, const std::vector<double>& sinks = {}) {
  Noted noted{due_ms, {1, 2, -1, -1, -1, result_ms}};
  noted.times_ms.insert(noted.times_ms.end(), sinks.begin(), sinks.end());
  return noted;
}
Noted without_result(double due_ms, Outcome outcome) {
  return {due_ms, {1}, outcome};
}

CameraRun camera_of(const GraphSpec& graph, std::int64_t start_ns, const std::vector<Noted>& frames) {
  CameraRun run{.records = FrameRecords(frames.size(), columns_of(graph)), .offered = frames.size()};
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    const auto due = start_ns + static_cast<std::int64_t>(frames[frame].due_ms * kMilli);
    run.records.outcome(frame) = frames[frame].outcome;
    run.records.time(frame, Columns::kDue) = due;
    for (std::size_t k = 0; k < frames[frame].times_ms.size(); ++k)
      if (frames[frame].times_ms[k] >= 0)
        run.records.time(frame, k + 1) = due + static_cast<std::int64_t>(frames[frame].times_ms[k] * kMilli);
  }
  return run;
}

Measurement measurement_of(const GraphSpec& graph, const std::vector<std::vector<Noted>>& cameras,
                           std::int64_t start_ns = 5'000 * kMilli) {
  Measurement one;
  one.load = {.rate = 100, .warm_up_s = 0, .duration_s = 1, .cameras = static_cast<int>(cameras.size())};
  one.start_ns = start_ns;
  for (const auto& frames : cameras) one.cameras.push_back(camera_of(graph, start_ns, frames));
  return one;
}

LatencyReport report_of(const GraphSpec& graph, const std::vector<Measurement>& repeats,
                        Until until = Until::Result, std::size_t worst = 3) {
  Settings settings;
  settings.deadline_ms = 20;
  settings.until = until;
  return summarise(graph, settings, repeats, {.worst = worst});
}

std::vector<std::pair<int, std::uint64_t>> names_of(const std::vector<WorstFrame>& frames) {
  std::vector<std::pair<int, std::uint64_t>> names;
  for (const WorstFrame& one : frames) names.emplace_back(one.camera, one.frame);
  return names;
}

TEST_CASE("every outcome of a frame is counted as what it is, and runs of misses are those of one camera") {
  const GraphSpec graph = graph_with({});
  const std::vector<Noted> first{timed(0, 5),
                                 timed(10, 20),    // just in time
                                 timed(20, 20.5),  // late
                                 without_result(30, Outcome::RingFull),
                                 without_result(40, Outcome::Deadline),
                                 without_result(50, Outcome::NotSent),
                                 untimed(60, 7),
                                 without_result(70, Outcome::Failed),
                                 without_result(80, Outcome::UnderWay),
                                 without_result(90, Outcome::Failed)},
      second{without_result(0, Outcome::RingFull), without_result(10, Outcome::Failed), timed(20, 6)};
  const LatencyReport report =
      report_of(graph, {measurement_of(graph, {first, second}), measurement_of(graph, {second, first})});
  const Tally& frames = report.frames;
  CHECK(frames.offered == 26);
  CHECK(frames.delivered == 10);
  CHECK(frames.failed == 6);
  CHECK(frames.in_flight == 2);
  CHECK(frames.ring_full == 4);
  CHECK(frames.dropped_deadline == 2);
  CHECK(frames.not_sent == 2);
  CHECK(frames.late == 2);
  CHECK(frames.probed == 8);
  CHECK(frames.longest_run == 4);
  CHECK(frames.dropped() == 8);
  CHECK(frames.missing() == 14);
  CHECK(frames.misses() == 16);
  CHECK(frames.misses_per_million() == Approx(1e6 * 16 / 26));
  CHECK(report.missing_frames == std::vector<std::uint64_t>{3, 4, 5, 7, 9, 0, 1, 0, 1, 3, 4, 5, 7, 9});
  CHECK(report.first_frame_ms == Approx(5));
  CHECK(report.settings.repeats == 2);
  CHECK(report.settings.cameras == 2);
  REQUIRE(report.repeats.size() == 2);
  CHECK(report.repeats[0].p50_ms == Approx(7));
  CHECK(report.repeats[0].max_ms == Approx(20.5));
  CHECK(report.repeats[0].mean_ms == Approx((5 + 20 + 20.5 + 7 + 6) / 5));
  CHECK(report.repeats[0].misses_per_million == Approx(1e6 * 8 / 13));
  CHECK_FALSE(report.repeats[0].knows_p99);
}

TEST_CASE("frames without a result are listed up to twenty") {
  const GraphSpec graph = graph_with({});
  std::vector<Noted> frames;
  for (int i = 0; i < 25; ++i) frames.push_back(without_result(10 * i, Outcome::Failed));
  const LatencyReport report = report_of(graph, {measurement_of(graph, {frames})});
  REQUIRE(report.missing_frames.size() == 20);
  CHECK(report.missing_frames.back() == 19);
  CHECK(report.first_frame_ms == 0);
  CHECK(report.counted().count() == 0);
}

TEST_CASE("the warm-up is left out by frames, and in a closed loop by time") {
  const GraphSpec graph = graph_with({});
  const std::vector<Noted> frames{timed(0, 9), timed(100, 8), timed(200, 7), timed(300, 6)};
  Measurement one = measurement_of(graph, {frames});
  one.cameras[0].warm_up_frames = 1;
  CHECK(report_of(graph, {one}).frames.offered == 3);
  one.load.warm_up_s = 0.2;
  CHECK(report_of(graph, {one}).frames.offered == 3);  // the schedule of an open loop knows it already
  one.load.loop = Loop::Closed;
  CHECK(report_of(graph, {one}).frames.offered == 2);
  CHECK(report_of(graph, {one}).counted().max_ms() == Approx(7));
  CHECK(report_of(graph, {one}).first_frame_ms == Approx(9));
}

TEST_CASE("the way of a frame is cut into its parts, which are timed where it was probed") {
  const GraphSpec graph = graph_with({"a", "b"});
  const LatencyReport report = report_of(
      graph, {measurement_of(graph, {{timed(0, 10, {11, 14, 10.5, 12}), timed(10, 12, {13, 19, 12.5, 13}),
                                      untimed(20, 8, {9, 10, 9, 9.5})}})});
  const auto mean = [&](std::string_view name) {
    REQUIRE(report.row(name) != nullptr);
    return report.row(name)->mean_ms();
  };
  CHECK(mean("due to result") == Approx(10));
  CHECK(mean("due to end of sinks") == Approx((14 + 19 + 10) / 3.0));
  CHECK(mean("timer and source") == Approx(1));
  CHECK(mean("queue") == Approx(1));
  CHECK(mean("start") == Approx(0.5));
  CHECK(mean("upload") == Approx(0.5));
  CHECK(mean("download") == Approx((6 + 8) / 2.0));
  CHECK(mean("completion") == Approx(1));
  CHECK(mean("queue of sink a") == Approx(1));
  CHECK(mean("sink a") == Approx((3 + 6 + 1) / 3.0));
  CHECK(mean("queue of sink b") == Approx(2.0 / 3));
  CHECK(mean("sink b") == Approx((1.5 + 0.5 + 0.5) / 3));
  CHECK(mean("between results") == Approx((12 + 6) / 2.0));
  CHECK(report.row("launch to result") == nullptr);
  // What stands for the parts of the frame that was not probed.
  REQUIRE(report.worst.size() == 3);
  CHECK(report.worst[2].frame == 2);
  CHECK_FALSE(report.worst[2].probed);
  CHECK(report.worst[2].parts_ms == std::vector<std::pair<std::string, double>>{
                                        {"timer and source", 1}, {"queue", 1}, {"launch to result", 6}});
  CHECK(report.worst[0].parts_ms.size() == 6);
  CHECK(report.worst[0].trace.size() == 10);
  CHECK(report.worst[0].trace.back() == Span{"sink b", 12.5, 0.5});
}

TEST_CASE(
    "times to the end of the sinks count where they are asked for, and a frame that a sink left out misses") {
  const GraphSpec graph = graph_with({"a", "b"});
  const std::vector<Measurement> repeats{
      measurement_of(graph, {{timed(0, 10, {11, 14, 10.5, 12}), timed(10, 12, {13, 25, 12.5, 13}),
                              timed(20, 9, {10, 11, -1, -1})}})};
  CHECK(report_of(graph, repeats).frames.late == 0);
  const LatencyReport report = report_of(graph, repeats, Until::Sinks);
  CHECK(report.frames.late == 2);
  CHECK(report.counted().count() == 2);
  CHECK(report.counted().max_ms() == Approx(25));
  CHECK(names_of(report.worst) == std::vector<std::pair<int, std::uint64_t>>{{1, 1}, {1, 0}, {1, 2}});
  CHECK(report.worst[0].total_ms == Approx(25));
  CHECK(report.worst[2].total_ms == Approx(9));
  CHECK(report.worst[0].parts_ms.size() == 10);
  CHECK(report.worst[0].due_s == Approx(0.01));
}

TEST_CASE(
    "the slowest frames are listed slowest first, of equal ones the first, and no more than asked for") {
  const GraphSpec graph = graph_with({});
  const auto worst_of = [&](std::size_t most) {
    return report_of(graph,
                     {measurement_of(graph, {{timed(0, 5), untimed(10, 9), timed(20, 9), untimed(30, 7)},
                                             {timed(0, 11), timed(10, 4)}})},
                     Until::Result, most);
  };
  using Names = std::vector<std::pair<int, std::uint64_t>>;
  CHECK(names_of(worst_of(0).worst).empty());
  CHECK(names_of(worst_of(1).worst) == Names{{2, 0}});
  CHECK(names_of(worst_of(2).worst) == Names{{2, 0}, {1, 1}});
  CHECK(names_of(worst_of(4).worst) == Names{{2, 0}, {1, 1}, {1, 2}, {1, 3}});
  CHECK(names_of(worst_of(9).worst).size() == 6);
  CHECK(names_of(worst_of(2).worst_probed) == Names{{2, 0}, {1, 2}});
  CHECK(names_of(worst_of(2).more_worst()) == Names{{1, 2}});
}

TEST_CASE("the time axis has a bin a frame at most, and repeats follow each other") {
  const GraphSpec graph = graph_with({});
  const Measurement one = measurement_of(
      graph, {{timed(0, 5), timed(100, 6), without_result(200, Outcome::Failed), timed(300, 8)}});
  const LatencyReport report = report_of(graph, {one, one});
  REQUIRE(report.series.size() == 8);
  CHECK(report.series[0].begin_s == 0);
  CHECK(report.series[1].begin_s == Approx(0.075));
  CHECK(report.series[4].begin_s == Approx(0.3));
  CHECK(report.series[7].begin_s == Approx(0.525));
  CHECK(report.series[1].median_ms == Approx(6));
  CHECK(report.series[3].max_ms == Approx(8));
  CHECK(report.series[2].missed == 1);
  CHECK(report.series[2].delivered == 0);
  CHECK(report.series[0].missed == 0);
  // A frame under way is no miss; one alone has the whole of its time.
  const LatencyReport alone =
      report_of(graph, {measurement_of(graph, {{without_result(0, Outcome::UnderWay)}}), one});
  CHECK(alone.series[0].missed == 0);
  CHECK(alone.series[1].begin_s == Approx(1));
  std::vector<Noted> many;
  for (int i = 0; i < 1000; ++i) many.push_back(timed(i, 5));
  CHECK(report_of(graph, {measurement_of(graph, {many})}).series.size() == 240);
  CHECK(report_of(graph, {measurement_of(graph, {many}), measurement_of(graph, {many}),
                          measurement_of(graph, {many})})
            .series.size() == 240);
}

TEST_CASE("what repeats used is added up, and memory is that of the last") {
  const GraphSpec graph = graph_with({});
  Measurement one = measurement_of(graph, {{timed(0, 5)}, {timed(0, 5)}});
  one.resources = {.wall_s = 2,
                   .cpu_s = 1.5,
                   .heap_growth_bytes = 10,
                   .minor_faults = 3,
                   .major_faults = 4,
                   .involuntary_switches = 5,
                   .resident_begin_bytes = 100,
                   .resident_end_bytes = 110};
  one.memory = {.slots = 6, .host = 42, .pinned = 48, .device = 54};
  one.cameras[0].report.source_reconnections = 2;
  one.cameras[1].report.source_reconnections = 1;
  Measurement other = one;
  other.resources.resident_begin_bytes = 120, other.resources.resident_end_bytes = 130;
  const LatencyReport report = report_of(graph, {one, other});
  CHECK(report.resources.wall_s == 4);
  CHECK(report.resources.cpu_s == 3);
  CHECK(report.resources.heap_growth_bytes == 20);
  CHECK(report.resources.minor_faults == 6);
  CHECK(report.resources.major_faults == 8);
  CHECK(report.resources.involuntary_switches == 10);
  CHECK(report.resources.resident_begin_bytes == 100);
  CHECK(report.resources.resident_end_bytes == 130);
  CHECK(report.memory.slots == 6);
  CHECK(report.memory.host == 42);
  CHECK(report.memory.pinned == 48);
  CHECK(report.memory.device == 54);
  CHECK(report.source_reconnections == 6);
}

/// Two cameras: north at 100 frames/s within 20 ms, south at 50 frames/s within `south_ms`.
Measurement two_cameras(const GraphSpec& graph, double south_ms) {
  Measurement one =
      measurement_of(graph, {{timed(0, 90), timed(10, 5), timed(20, 15), timed(30, 8)},
                             {timed(0, 25), timed(20, 30), without_result(40, Outcome::Failed)}});
  one.cameras[0].name = "north", one.cameras[1].name = "south";
  one.cameras[0].rate = 100, one.cameras[1].rate = 50;
  one.cameras[0].deadline_ms = 20, one.cameras[1].deadline_ms = south_ms;
  one.cameras[0].warm_up_frames = 1;
  return one;
}

TEST_CASE("each camera with a name is held against its own deadline, over all repeats") {
  const GraphSpec graph = graph_with({});
  const LatencyReport report = report_of(graph, {two_cameras(graph, 27), two_cameras(graph, 27)});
  CHECK(report.settings.rate == 75);
  CHECK(report.settings.warm_up_frames == 1);
  CHECK(report.frames.late == 2);
  CHECK(report.frames.misses() == 4);
  REQUIRE(report.cameras.size() == 2);
  const CameraFigures &north = report.cameras[0], &south = report.cameras[1];
  CHECK(north.name == "north");
  CHECK(north.rate == 100);
  CHECK(north.deadline_ms == 20);
  CHECK(north.frames.offered == 6);
  CHECK(north.frames.misses() == 0);
  CHECK(south.frames.offered == 6);
  CHECK(south.frames.late == 2);
  CHECK(south.frames.failed == 2);
  REQUIRE(report.row("camera north") != nullptr);
  REQUIRE(report.row("camera south") != nullptr);
  CHECK(report.row("camera north")->count() == 6);
  CHECK(report.row("camera north")->max_ms() == Approx(15));
  CHECK(report.row("camera south")->count() == 4);
  CHECK(report.row("camera south")->min_ms() == Approx(25));
  CHECK(report.worst[0].camera == 2);
  const Verdict verdict = verdict_of(report);
  CHECK(verdict.state == Verdict::State::Fail);
  CHECK(verdict.sentence ==
        "1 of 2 cameras did not hold their deadlines; south: 27 ms not held at 50 frames/s: 4 of 6 frames "
        "missed "
        "it (in the long run at most 94 %, at 95 % confidence); slowest 30 ms; p99.9 n/a (needs 10000 "
        "frames, have "
        "6)");
}

TEST_CASE("cameras with names hold when each does, and the nearest to its deadline is told") {
  const GraphSpec graph = graph_with({});
  Measurement one = two_cameras(graph, 60);
  one.cameras[1].offered = 2;
  const Verdict verdict = verdict_of(report_of(graph, {one}));
  CHECK(verdict.state == Verdict::State::Pass);
  // 15 of 20 ms are nearer than 30 of 60.
  CHECK(verdict.sentence ==
        "each of 2 cameras held its deadline; the nearest to it, north: 20 ms held at 100 frames/s: 0 of 3 "
        "frames "
        "missed it (in the long run at most 63 %, at 95 % confidence); slowest 15 ms; p99.9 n/a (needs 10000 "
        "frames, have 3)");
  one.cameras[1].offered = 0;
  CHECK(verdict_of(report_of(graph, {one})).sentence ==
        "1 of 2 cameras did not hold their deadlines; south: no frame was offered after the warm-up");
}

TEST_CASE("many cameras that are late are told up to five") {
  const GraphSpec graph = graph_with({});
  Measurement one = measurement_of(graph, std::vector<std::vector<Noted>>(7, {timed(0, 5)}));
  for (CameraRun& camera : one.cameras)
    camera.name = fmt::format("c{}", &camera - one.cameras.data()), camera.rate = 1, camera.deadline_ms = 4;
  const std::string sentence = verdict_of(report_of(graph, {one})).sentence;
  CHECK(
      sentence.starts_with("7 of 7 cameras did not hold their deadlines; c0: 4 ms not held at 1 frames/s: "));
  CHECK(sentence.find("; c4: ") != std::string::npos);
  CHECK(sentence.find("c5: ") == std::string::npos);
  CHECK(sentence.ends_with("; and 2 more"));
}

TEST_CASE("reports of the same cameras are put together camera by camera, others refused") {
  const GraphSpec graph = graph_with({});
  const LatencyReport first = report_of(graph, {two_cameras(graph, 27)});
  LatencyReport sum =
      report_from(json_of(first, {.verdict = verdict_of(first), .assertions = {}}), "first.json");
  merge(sum, first);
  REQUIRE(sum.cameras.size() == 2);
  CHECK(sum.cameras[0].frames.offered == 6);
  CHECK(sum.cameras[1].frames.failed == 2);
  CHECK(sum.cameras[1].deadline_ms == 27);
  CHECK(sum.row("camera south")->count() == 4);
  CHECK(difference_of_cameras(sum, report_of(graph, {two_cameras(graph, 27)})).empty());
  CHECK(difference_of_cameras(sum, report_of(graph, {two_cameras(graph, 28)})) ==
        "a camera: south at 50 frames/s within 27 ms and south at 50 frames/s within 28 ms");
  CHECK_THROWS_AS(merge(sum, report_of(graph, {two_cameras(graph, 28)})), Error);
  LatencyReport unnamed = first;
  unnamed.cameras.clear();
  CHECK(difference_of_cameras(first, unnamed) == "cameras: 2 and 0");
  // A report whose cameras contradict its rows or its sum is none.
  LatencyReport wrong = first;
  wrong.cameras[0].frames.delivered -= 1, wrong.cameras[0].frames.failed += 1;
  CHECK_THROWS_AS(report_from(json_of(wrong, {}), "wrong.json"), Error);
  wrong = first;
  wrong.cameras.pop_back();
  CHECK_THROWS_AS(report_from(json_of(wrong, {}), "wrong.json"), Error);
}

TEST_CASE("the table and the page name cameras") {
  const GraphSpec graph = graph_with({});
  const LatencyReport report = report_of(graph, {two_cameras(graph, 27)});
  const Judgement judgement{.verdict = verdict_of(report), .assertions = {}};
  const std::string table = table_of(report, judgement);
  for (const char* line :
       {"cameras   north, 100 frames/s within 20 ms: 3 offered = 3 delivered + 0 dropped + 0 failed + 0 in "
        "flight; "
        "0 missed\n",
        "          south, 50 frames/s within 27 ms: 3 offered = 2 delivered + 0 dropped + 1 failed + 0 in "
        "flight; "
        "2 missed\n",
        "load      2 cameras at once, each: open loop, fixed arrivals, at its own rate for ",
        "\nworst     south #1 "})
    CHECK(table.find(line) != std::string::npos);
  const std::string page = html_of(report, judgement);
  CHECK(page.find("<tr><td>camera south</td><td>50 frames/s within 27 ms: 3 offered") != std::string::npos);
  CHECK(page.find("south #1") != std::string::npos);
}

TEST_CASE("one camera has no number, and what no sink holds up blames none") {
  const GraphSpec graph = graph_with({"a"});
  const LatencyReport report = report_of(graph, {measurement_of(graph, {{timed(0, 25, {26, 27})}})});
  const Verdict verdict = verdict_of(report);
  CHECK(verdict.state == Verdict::State::Fail);
  CHECK(verdict.sentence.ends_with("slowest 25 ms; p99.9 n/a (needs 10000 frames, have 1)"));
  const std::string table = table_of(report, {.verdict = verdict, .assertions = {}});
  CHECK(table.find("\nworst     #0 ") != std::string::npos);
  CHECK(table.find("camera") == std::string::npos);
}

TEST_CASE("the table of frames has a row a frame, warm-up included, and its times from the first one's") {
  const GraphSpec graph = graph_with({"a"});
  Measurement one =
      measurement_of(graph, {{timed(0, 10, {11, 14}), untimed(10, 8, {9, -1})},
                             {without_result(0, Outcome::RingFull), without_result(10, Outcome::NotSent)}});
  for (CameraRun& camera : one.cameras) camera.warm_up_frames = 1;
  const Measurement other =
      measurement_of(graph, {{without_result(0, Outcome::Deadline), without_result(1, Outcome::Failed),
                              without_result(2, Outcome::UnderWay)}});
  CHECK(csv_of(graph, {one, other}) ==
        "repeat,camera,frame,warm_up,outcome,due,arrived,launched,started,uploaded,downloaded,result,"
        "sink a begins,sink a\n"
        "1,1,0,1,delivered,0,1000000,2000000,2500000,3000000,9000000,10000000,11000000,14000000\n"
        "1,1,1,0,delivered,10000000,11000000,12000000,,,,18000000,19000000,\n"
        "1,2,0,1,dropped: no free slot,0,1000000,,,,,,,\n"
        "1,2,1,0,dropped: not sent by the source,10000000,11000000,,,,,,,\n"
        "2,1,0,0,dropped: past the deadline,0,1000000,,,,,,,\n"
        "2,1,1,0,failed,1000000,2000000,,,,,,,\n"
        "2,1,2,0,in flight,2000000,3000000,,,,,,,\n");
}

TEST_CASE("the trace has the slowest frames and those beside them, and each sink on a track of its own") {
  const GraphSpec graph = graph_with({"a", "b"});
  const std::vector<Measurement> repeats{
      measurement_of(graph, {{timed(0, 5, {6, 7, 6, 8}), timed(100, 50, {51, 60, 50, 55}),
                              timed(140, 9, {10, 11, 10, 11}), timed(300, 6, {7, 8, 7, 8})}})};
  const auto trace = nlohmann::json::parse(trace_of(graph, repeats, Until::Result, 1));
  std::vector<std::string> tracks, frames;
  std::vector<std::string> sinks;
  for (const auto& event : trace["traceEvents"]) {
    const std::string name = event.value("name", "");
    if (name == "thread_name") tracks.push_back(event["args"]["name"]);
    if (event.value("ph", "") != "X") continue;
    if (name.starts_with("frame ")) frames.push_back(name);
    if (name.starts_with("sink "))
      sinks.push_back(name + " on " + std::to_string(event.value("tid", 0)) + " for " +
                      std::to_string(static_cast<int>(event.value("dur", 0.0))));
  }
  CHECK(frames == std::vector<std::string>{"frame 1", "frame 2"});
  CHECK(tracks == std::vector<std::string>{"camera 1 frame 1: 50.000 ms", "camera 1 frame 1, sink a",
                                           "camera 1 frame 1, sink b", "camera 1 frame 2: 9.000 ms",
                                           "camera 1 frame 2, sink a", "camera 1 frame 2, sink b"});
  CHECK(sinks == std::vector<std::string>{"sink a on 2 for 9000", "sink b on 3 for 5000",
                                          "sink a on 5 for 1000", "sink b on 6 for 1000"});
  // By the end of the sinks they are longer.
  const std::string until_sinks = trace_of(graph, repeats, Until::Sinks, 1);
  CHECK(until_sinks.find("camera 1 frame 1: 60.000 ms") != std::string::npos);
}

}  // namespace
}  // namespace contorno::latency
