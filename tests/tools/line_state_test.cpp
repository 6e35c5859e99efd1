// What the pages of operation say: faults by hand-made looks, and the text of metrics.
#include "tools/ops/line_state.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/ops/open_metrics.h"

using namespace contorno;

namespace {

LineLook good_line() {
  return {.cameras = {{.name = "north", .state = CameraState::Running, .required = true},
                      {.name = "south", .state = CameraState::Connecting}},
          .outboxes = {{.path = "/var/lib/line.db",
                        .bytes = 4096,
                        .max_bytes = 8192,
                        .routes = {{.name = "redis", .waiting = 3, .age_s = 1.5}}}},
          .version = "1.2.3"};
}

std::size_t lines_with(const std::string& text, const std::string& begin) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find("\n" + begin, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("a line is healthy while all threads get on, and somebody looks") {
  LineLook line = good_line();
  CHECK(health_fault(line) == "");
  line.hang = "north: the launcher has made no step for 31.0 s and is at work";
  CHECK(health_fault(line) == *line.hang);
  line.hang.reset();
  line.since_look_s = 9.9;
  CHECK(health_fault(line) == "");
  line.since_look_s = 12;
  CHECK(health_fault(line) == "nobody has looked at the cameras for 12.0 s");
}

TEST_CASE("a line is ready when its device, its required cameras and its outboxes are") {
  CHECK(readiness_fault(good_line()) == "");
  CHECK(readiness_fault({}) == "the run has not begun, or is over");
  LineLook line = good_line();
  for (const CameraState state : {CameraState::Connecting, CameraState::Stalled, CameraState::Lost,
                                  CameraState::Ended, CameraState::Failed}) {
    line.cameras[0].state = state;
    CHECK(readiness_fault(line) == "north: it is required, and " + std::string(name_of(state)));
    line.cameras[0].required = false;
    CHECK(readiness_fault(line) == "no camera runs");
    line.cameras[0].required = true;
  }
  line.cameras[0].state = CameraState::Blocked;
  CHECK(readiness_fault(line) == "");
  line.outboxes[0].takes_messages = false;
  CHECK(readiness_fault(line) == "the outbox '/var/lib/line.db' takes no messages");
  line.cameras[1].device_broke = true;
  CHECK(readiness_fault(line) == "south: the device broke");
}

TEST_CASE("a line is ready while results come in time, if that is limited") {
  LineLook line = good_line();
  line.max_lag_s = 5;
  line.cameras[1].lag_s = 5;
  CHECK(readiness_fault(line) == "");
  line.cameras[1].lag_s = 5.25;
  CHECK(readiness_fault(line) == "south: its oldest frame without a result is 5.2 s old, allowed 5");
  CHECK(health_fault(line) == "");
  line.max_lag_s = 0;
  CHECK(readiness_fault(line) == "");
}

TEST_CASE("what runs on the CPU for want of its device is said beside what is well") {
  LineLook line = good_line();
  CHECK(fallback_notes(line) == "");
  line.cameras[1].fallback = "no CUDA device\nwas found";
  CHECK(fallback_notes(line) == "south: on the CPU: no CUDA device\\nwas found\n");
  CHECK(readiness_fault(line) == "");
  CHECK(lines_with(metrics_text(line), "contorno_camera_fallback{camera=\"south\"} 1\n") == 1);
  CHECK(lines_with(metrics_text(line), "contorno_camera_fallback{camera=\"north\"} 0\n") == 1);
}

TEST_CASE("latencies are counted by limits") {
  LatencyCounts counts;
  counts.note(0);
  counts.note(500'000);  // on the first limit
  counts.note(500'001);
  counts.note(99'000'000);
  counts.note(3'600'000'000'000);
  CHECK(counts.count(0) == 2);
  CHECK(counts.count(1) == 1);
  CHECK(counts.count(11) == 1);
  CHECK(counts.count(LatencyCounts::kLimits_ms.size()) == 1);
  CHECK(counts.sum_seconds() == doctest::Approx(3600.1).epsilon(1e-6));
}

TEST_CASE("metrics have a line for everything, add up, and end") {
  LatencyCounts counts;
  for (int i = 0; i < 7; ++i) counts.note(30'000'000);
  LineLook line = good_line();
  line.cameras[0].frames = {.offered = 20,
                            .delivered = 7,
                            .failed = 1,
                            .dropped_ring_full = 2,
                            .dropped_deadline = 3,
                            .dropped_thinned = 10,
                            .dropped_aborted = 4,
                            .late = 5,
                            .regrown = 6};
  line.cameras[0].latency = &counts;
  line.cameras[0].reconnections = 9;
  line.cameras[0].level = 2;
  line.cameras[0].lag_s = 0.25;
  const std::string text = metrics_text(line);
  for (const char* expected :
       {R"(contorno_frames_read_total{camera="north"} 20)",
        R"(contorno_frames_total{camera="north",result="delivered"} 7)",
        R"(contorno_frames_total{camera="north",result="failed"} 1)",
        R"(contorno_frames_total{camera="north",result="dropped"} 19)",
        R"(contorno_frames_dropped_total{camera="north",reason="ring_full"} 2)",
        R"(contorno_frames_dropped_total{camera="north",reason="deadline"} 3)",
        R"(contorno_frames_dropped_total{camera="north",reason="thinned"} 10)",
        R"(contorno_frames_dropped_total{camera="north",reason="aborted"} 4)",
        R"(contorno_frames_late_total{camera="north"} 5)",
        R"(contorno_frames_regrown_total{camera="north"} 6)",
        R"(contorno_latency_seconds_bucket{camera="north",le="0.02"} 0)",
        R"(contorno_latency_seconds_bucket{camera="north",le="0.03"} 7)",
        R"(contorno_latency_seconds_bucket{camera="north",le="+Inf"} 7)",
        R"(contorno_latency_seconds_count{camera="north"} 7)",
        R"(contorno_camera_state{camera="south",contorno_camera_state="connecting"} 1)",
        R"(contorno_camera_state{camera="south",contorno_camera_state="running"} 0)",
        R"(contorno_camera_reconnections_total{camera="north"} 9)",
        R"(contorno_camera_level{camera="north"} 2)",
        R"(contorno_camera_level{camera="south"} 0)",
        R"(contorno_camera_lag_seconds{camera="north"} 0.25)",
        R"(contorno_outbox_bytes{outbox="/var/lib/line.db"} 4096)",
        R"(contorno_route_waiting_messages{outbox="/var/lib/line.db",route="redis"} 3)",
        R"(contorno_route_age_seconds{outbox="/var/lib/line.db",route="redis"} 1.5)",
        R"(contorno_build_info{version="1.2.3"} 1)",
        "contorno_ready 1",
        "contorno_progress 1"}) {
    CAPTURE(expected);
    CHECK(lines_with(text, std::string(expected) + "\n") == 1);
  }
  CHECK(text.ends_with("\n# EOF\n"));
  CHECK(lines_with(text, "contorno_camera_state{") == 14);
}

TEST_CASE("the most cameras have at most 200 series each, and more than that is left out") {
  LatencyCounts counts;
  LineLook line = good_line();
  line.cameras.assign(64, {.name = std::string(32, 'n'), .latency = &counts});
  const std::string text = metrics_text(line);
  std::size_t samples = 0;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
    samples += at + 1 < text.size() && text[at + 1] != '#';
  CHECK(samples > 64 * 40);
  CHECK(samples < 64 * 200);
  OpenMetrics metrics;
  metrics.begin("many", OpenMetrics::Kind::Gauge, "", "Too many.");
  for (std::size_t i = 0; i < OpenMetrics::kMostSamples + 100; ++i)
    metrics.sample("", {{"i", std::to_string(i)}}, std::uint64_t{1});
  CHECK(metrics.samples() == OpenMetrics::kMostSamples);
  CHECK(std::move(metrics).finish().ends_with("# EOF\n"));
}

TEST_CASE("labels forge no lines") {
  OpenMetrics metrics;
  metrics.begin("one", OpenMetrics::Kind::Gauge, "", "A \"quoted\"\nhelp.");
  metrics.sample("", {{"path", "a\"b\\c\nd"}}, std::uint64_t{1});
  CHECK(std::move(metrics).finish() ==
        "# TYPE one gauge\n# HELP one A \\\"quoted\\\"\\nhelp.\none{path=\"a\\\"b\\\\c\\nd\"} 1\n# EOF\n");
}
