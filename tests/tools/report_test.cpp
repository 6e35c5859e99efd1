// The closing message of a run, report.json and the progress line.
#include "tools/report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tools/run_watch.h"

namespace contorno {
namespace {

/// A live run of 50 frames a second: `out` frames came out, each after 4 ms but the last, after `worst_ms`.
RunReport live_report(std::uint64_t out, double worst_ms) {
  RunReport report;
  report.frames = {.offered = out, .delivered = out};
  report.wall_seconds = 2;
  report.live = true;
  report.source_rate = 50;
  report.input_rate = 49.96;
  report.slots = 4;
  report.threads = 2;
  for (std::uint64_t i = 1; i < out; ++i) report.end_to_end.record(4'000'000);
  report.end_to_end.record(static_cast<std::int64_t>(worst_ms * 1e6));
  return report;
}

std::string line_with(const std::string& text, const std::string& first_word) {
  const std::size_t at =
      text.find("\n" + first_word) == std::string::npos ? 0 : text.find("\n" + first_word) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

TEST_CASE("the summary says whether a live source's rate was held") {
  RunReport report = live_report(100, 15);
  CHECK(line_with(report_text(report), "budget") == "budget    50 frames/s held: yes, worst 15 ms of 20 ms");
  CHECK(line_with(report_text(report), "rate") ==
        "rate      50.0 frames/s over 2.00 s; 50.0 frames/s came in");
  report.frames.offered += 3;
  report.frames.dropped_ring_full = 3;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    50 frames/s held: no, 3 of 103 frames dropped, worst 15 ms of 20 ms");
  CHECK(line_with(report_text(report), "frames") == "frames    103 in, 100 out, 3 dropped (3 no free slot)");
}

TEST_CASE("a report has frames by level of quality where a run had several, and what was thinned") {
  RunReport report;
  CHECK(report_text(report).find("quality") == std::string::npos);
  report.frames = {.offered = 12, .delivered = 9, .dropped_thinned = 3};
  report.levels = {{"full", 4}, {"overlay", 0}, {"thin", 5}};
  CHECK(line_with(report_text(report), "quality") == "quality   4 full, 0 overlay, 5 thin");
  CHECK(line_with(report_text(report), "frames") == "frames    12 in, 9 out, 3 dropped (3 thinned)");
  CHECK(report.held() == false);
  report.fell_back = true;
  const auto json = nlohmann::json::parse(report_json(report, "", ""));
  CHECK(json["levels"] == nlohmann::json::parse(R"([{"level":0,"step":"full","frames":4},
    {"level":1,"step":"overlay","frames":0},{"level":2,"step":"thin","frames":5}])"));
  CHECK(json["frames"]["dropped"]["thinned"] == 3);
  CHECK(json["frames"]["dropped"]["total"] == 3);
  CHECK(json["fallback"] == true);
}

TEST_CASE("the totals of a sink stand in the summary and in the report") {
  RunReport report = live_report(100, 15);
  report.sinks.push_back(
      {.name = "jsonl",
       .summary = "a.jsonl (100 frames)",
       .error = {},
       .totals = {
           {.name = "rot", .contours = 12, .area = 345.25, .perimeter = 90, .share = 0.0125, .mean = 0.75},
           {.name = "stem"}}});
  CHECK(line_with(report_text(report), "total") ==
        "total     rot                    12 contours, area 345 px, 1.25 % of the whole, mean 0.750");
  CHECK(report_text(report).find("stem") == std::string::npos);
  const nlohmann::json totals =
      nlohmann::json::parse(report_json(report, "graph.yaml", ""))["sinks"][0]["totals"];
  CHECK(totals[0] == nlohmann::json({{"class", "rot"},
                                     {"contours", 12},
                                     {"area", 345.25},
                                     {"perimeter", 90.0},
                                     {"share", 0.0125},
                                     {"mean", 0.75}}));
  CHECK(totals[1]["share"].is_null());
}

TEST_CASE("a budget is shown as it was set, and the worst latency on its right side") {
  RunReport report = live_report(100, 33.4);
  report.source_rate = 30;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    30 frames/s held: yes; a result took up to 33.4 ms, longer than the 33.333 ms between "
        "frames");
  report = live_report(100, 12.46);
  report.live = false;
  report.deadline_ms = 12.4;
  report.frames.late = 1;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    12.4 ms a frame held: no, 1 of 100 late, worst 12.5 ms of 12.4 ms");
  report.deadline_ms = 60'000;
  report.frames.late = 0;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    60000 ms a frame held: yes, worst 12 ms of 60000 ms");
}

TEST_CASE("frames that overlap hold a rate though each takes longer") {
  CHECK(line_with(report_text(live_report(100, 35)), "budget") ==
        "budget    50 frames/s held: yes; a result took up to 35 ms, longer than the 20 ms between frames");
}

TEST_CASE("a source that is slower than it says puts no rate to the test") {
  RunReport report = live_report(100, 15);
  report.input_rate = 1.2;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    50 frames/s held: not known, as only 1.2 frames/s came in");
  CHECK(nlohmann::json::parse(report_json(report, "", ""))["held"].is_null());
  report.frames.offered += 3;
  report.frames.dropped_ring_full = 3;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    50 frames/s held: no, 3 of 103 frames dropped, worst 15 ms of 20 ms");
  CHECK(nlohmann::json::parse(report_json(report, "", ""))["held"] == false);
}

TEST_CASE("the deadline is the budget where there is one") {
  RunReport report = live_report(100, 15);
  report.deadline_ms = 12.5;
  report.frames.late = 1;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    50 frames/s held: no, 1 of 100 late, worst 15 ms of 12.5 ms");
  report.live = false;
  CHECK(line_with(report_text(report), "budget") ==
        "budget    12.5 ms a frame held: no, 1 of 100 late, worst 15 ms of 12.5 ms");
  CHECK(line_with(report_text(report), "frames") == "frames    100 in, 100 out, 1 late");
  CHECK(line_with(report_text(report), "rate") == "rate      50.0 frames/s over 2.00 s");
}

TEST_CASE("rows and columns that would say nothing are left out") {
  RunReport report = live_report(40, 15);
  report.live = false;
  report.parts = {{.name = "upload"}, {.name = "classify"}};
  for (int i = 0; i < 40; ++i) {
    report.parts[0].histogram.record(800);
    report.parts[1].histogram.record(3'000'000);
  }
  report.classes = {{.name = "rot", .points = 4000, .contours = 60, .frames = 30}, {.name = "scab"}};
  report.tracks = {{.stage = "track", .classes = {{.births = 12, .deaths = 9, .forgotten = 1}, {}}}};
  CHECK(report_text(report) ==
        "frames    40 in, 40 out\n"
        "rate      20.0 frames/s over 2.00 s\n"
        "backend   cpu, 2 threads, 4 slots\n"
        "latency   ms                           min       p50       max\n"
        "          arrival to result           4.00      4.01     15.00\n"
        "            classify                  3.00      3.00      3.00\n"
        "class     rot                    in 30 of 40 frames; 1.5 contours, 100 points a frame\n"
        "track     rot                    12 births, 9 deaths, 1 forgotten for want of room\n");
}

TEST_CASE("each sink has its latency, and a row where it did not get every frame") {
  RunReport report = live_report(40, 4);
  report.live = false;
  report.sinks = {{.name = "jsonl", .written = 40},
                  {.name = "preview", .written = 28, .dropped = 12},
                  {.name = "video", .error = "no space", .written = 10, .missed = 30}};
  for (int i = 0; i < 28; ++i) {
    report.sinks[0].queued.record(1000);  // too little for a row
    report.sinks[0].writing.record(100'000);
    report.sinks[0].end_to_end.record(5'000'000);
    report.sinks[1].queued.record(1'000'000);
    report.sinks[1].writing.record(7'000'000);
    report.sinks[1].end_to_end.record(12'000'000);
  }
  CHECK(report_text(report) ==
        "frames    40 in, 40 out\n"
        "rate      20.0 frames/s over 2.00 s\n"
        "backend   cpu, 2 threads, 4 slots\n"
        "latency   ms                           min       p50       max\n"
        "          arrival to result           4.00      4.00      4.00\n"
        "          arrival to jsonl            5.00      5.00      5.00\n"
        "            writing                   0.10      0.10      0.10\n"
        "          arrival to preview         12.00     12.00     12.00\n"
        "            queued                    1.00      1.00      1.00\n"
        "            writing                   7.00      7.00      7.00\n"
        "sink      preview                28 of 40 frames; 12 dropped, since it was behind\n"
        "sink      video                  10 of 40 frames; 30 missed, since it broke\n"
        "error     sink 'video': no space\n");
  const auto json = nlohmann::json::parse(report_json(report, "g.yaml", ""));
  CHECK(json["latency_us"]["sinks"]["preview"]["end_to_end"]["count"] == 28);
  CHECK(json["latency_us"]["sinks"]["preview"]["writing"]["max"] == 7000.0);
  CHECK(json["latency_us"]["sinks"]["video"]["queued"].is_null());
  CHECK(json["sinks"][1]["frames"] == nlohmann::json{{"written", 28}, {"dropped", 12}, {"missed", 0}});
}

TEST_CASE("the report for programs has the figures of the summary") {
  RunReport report = live_report(100, 15);
  report.deadline_ms = 10;
  report.frames.late = 1;
  report.classes = {{.name = "rot", .points = 400, .contours = 50, .frames = 30}};
  const auto json = nlohmann::json::parse(report_json(report, "g.yaml", ""));
  CHECK(json["live"] == true);
  CHECK(json["source_frames_per_second"] == 50.0);
  CHECK(json["input_frames_per_second"] == 49.96);
  CHECK(json["deadline_ms"] == 10.0);
  CHECK(json["held"] == false);
  CHECK(json["frames"]["late"] == 1);
  CHECK(json["classes"][0]["frames"] == 30);
  CHECK(json["classes"][0]["contours_per_frame"] == 0.5);
  CHECK(json["classes"][0]["points_per_frame"] == 4.0);
  report.source_rate = report.input_rate = report.deadline_ms = 0;
  const auto unknown = nlohmann::json::parse(report_json(report, "g.yaml", ""));
  CHECK(unknown["source_frames_per_second"].is_null());
  CHECK(unknown["input_frames_per_second"].is_null());
  CHECK(unknown["deadline_ms"].is_null());
}

TEST_CASE("progress has percent and time left where the length is known") {
  FrameCounts frames{.offered = 24, .delivered = 20};
  CHECK(progress_text(frames, 80, 29'000, 4) == "20 of 80 frames (25 %), 12 s left, 5.0/s, 29.0 ms");
  CHECK(progress_text(frames, 8020, 0, 4) == "20 of 8020 frames (0 %), 26:40 left, 5.0/s");
  frames.dropped_ring_full = 3;
  frames.failed = 1;
  CHECK(progress_text(frames, -1, 29'000, 4) == "24 frames, 6.0/s, 29.0 ms, 3 dropped, 1 failed");
  // More came than was promised.
  CHECK(progress_text(frames, 10, 0, 4) == "24 of 24 frames (100 %), 0 s left, 6.0/s, 3 dropped, 1 failed");
}

}  // namespace
}  // namespace contorno
