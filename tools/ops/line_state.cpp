#include "tools/ops/line_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/shared/printable.h"
#include "tools/ops/open_metrics.h"

namespace contorno {
namespace {

using Kind = OpenMetrics::Kind;

/// Whoever looks does so many times a second.
constexpr double kMostSinceLook_s = 10;

constexpr CameraState kStates[] = {CameraState::Connecting, CameraState::Running, CameraState::Stalled,
                                   CameraState::Blocked,    CameraState::Lost,    CameraState::Ended,
                                   CameraState::Failed};

void add_frames(OpenMetrics& metrics, const std::vector<CameraLook>& cameras) {
  metrics.begin("contorno_frames_read", Kind::Counter, "",
                "Frames that came from the camera, usable or not.");
  for (const CameraLook& one : cameras) metrics.sample("_total", {{"camera", one.name}}, one.frames.offered);
  metrics.begin("contorno_frames", Kind::Counter, "", "Frames by what became of them.");
  for (const CameraLook& one : cameras) {
    const auto add = [&](const char* result, std::uint64_t count) {
      metrics.sample("_total", {{"camera", one.name}, {"result", result}}, count);
    };
    add("delivered", one.frames.delivered);
    add("failed", one.frames.failed);
    add("dropped", one.frames.dropped());
  }
  metrics.begin("contorno_frames_dropped", Kind::Counter, "", "Frames that were dropped, by the reason.");
  for (const CameraLook& one : cameras) {
    const auto add = [&](const char* reason, std::uint64_t count) {
      metrics.sample("_total", {{"camera", one.name}, {"reason", reason}}, count);
    };
    add("ring_full", one.frames.dropped_ring_full);
    add("deadline", one.frames.dropped_deadline);
    add("thinned", one.frames.dropped_thinned);
    add("aborted", one.frames.dropped_aborted);
  }
  metrics.begin("contorno_frames_late", Kind::Counter, "", "Frames that were delivered behind the deadline.");
  for (const CameraLook& one : cameras) metrics.sample("_total", {{"camera", one.name}}, one.frames.late);
  metrics.begin("contorno_frames_regrown", Kind::Counter, "",
                "Frames that were launched again with more memory.");
  for (const CameraLook& one : cameras) metrics.sample("_total", {{"camera", one.name}}, one.frames.regrown);
}

void add_latency(OpenMetrics& metrics, const std::vector<CameraLook>& cameras) {
  metrics.begin("contorno_latency_seconds", Kind::Histogram, "seconds",
                "From the frame's arrival to its result, before sinks.");
  for (const CameraLook& one : cameras) {
    if (one.latency == nullptr) continue;
    std::uint64_t below = 0;
    for (std::size_t place = 0; place <= LatencyCounts::kLimits_ms.size(); ++place) {
      below += one.latency->count(place);
      // With a decimal point always: a reader compares limits as text.
      const std::string limit = place < LatencyCounts::kLimits_ms.size()
                                    ? fmt::format("{:#}", LatencyCounts::kLimits_ms[place] / 1e3)
                                    : "+Inf";
      metrics.sample("_bucket", {{"camera", one.name}, {"le", limit}}, below);
    }
    metrics.sample("_count", {{"camera", one.name}}, below);
    metrics.sample("_sum", {{"camera", one.name}}, one.latency->sum_seconds());
  }
}

void add_states(OpenMetrics& metrics, const std::vector<CameraLook>& cameras) {
  metrics.begin("contorno_camera_state", Kind::StateSet, "", "What the camera is doing.");
  for (const CameraLook& one : cameras)
    for (const CameraState state : kStates)
      metrics.sample("", {{"camera", one.name}, {"contorno_camera_state", name_of(state)}},
                     std::uint64_t{one.state == state});
  metrics.begin("contorno_camera_level", Kind::Gauge, "",
                "Level of quality that frames are worked on at; 0: full.");
  for (const CameraLook& one : cameras)
    metrics.sample("", {{"camera", one.name}}, static_cast<std::uint64_t>(one.level));
  metrics.begin("contorno_camera_lag_seconds", Kind::Gauge, "seconds",
                "Age of the oldest frame that has no result yet; 0: there is none.");
  for (const CameraLook& one : cameras) metrics.sample("", {{"camera", one.name}}, one.lag_s);
  metrics.begin("contorno_camera_fallback", Kind::Gauge, "",
                "1: it runs on the CPU, for want of the device that was asked for.");
  for (const CameraLook& one : cameras)
    metrics.sample("", {{"camera", one.name}}, std::uint64_t{!one.fallback.empty()});
  metrics.begin("contorno_camera_reconnections", Kind::Counter, "", "How often the camera was opened again.");
  for (const CameraLook& one : cameras) metrics.sample("_total", {{"camera", one.name}}, one.reconnections);
  metrics.begin("contorno_device_errors", Kind::Counter, "",
                "Runs of the camera that ended with a broken device.");
  for (const CameraLook& one : cameras)
    metrics.sample("_total", {{"camera", one.name}}, std::uint64_t{one.device_broke});
}

void add_outboxes(OpenMetrics& metrics, const std::vector<OutboxStatus>& outboxes) {
  metrics.begin("contorno_outbox_bytes", Kind::Gauge, "bytes",
                "Size of the outbox with its write-ahead log.");
  for (const OutboxStatus& one : outboxes) metrics.sample("", {{"outbox", one.path}}, one.bytes);
  metrics.begin("contorno_outbox_limit_bytes", Kind::Gauge, "bytes", "How large the outbox may become.");
  for (const OutboxStatus& one : outboxes) metrics.sample("", {{"outbox", one.path}}, one.max_bytes);
  metrics.begin("contorno_outbox_writable", Kind::Gauge, "", "1: the outbox takes messages.");
  for (const OutboxStatus& one : outboxes)
    metrics.sample("", {{"outbox", one.path}}, std::uint64_t{one.takes_messages});
  const auto each_route = [&](const auto& value) {
    for (const OutboxStatus& one : outboxes)
      for (const OutboxStatus::Route& route : one.routes)
        metrics.sample("", {{"outbox", one.path}, {"route", route.name}}, value(route));
  };
  metrics.begin("contorno_route_up", Kind::Gauge, "",
                "1: the route is connected, or has not been tried yet.");
  each_route([](const OutboxStatus::Route& route) { return std::uint64_t{route.is_up}; });
  metrics.begin("contorno_route_waiting_messages", Kind::Gauge, "messages",
                "Messages that the broker does not have yet.");
  each_route([](const OutboxStatus::Route& route) { return route.waiting; });
  metrics.begin("contorno_route_age_seconds", Kind::Gauge, "seconds", "Age of the oldest of them.");
  each_route([](const OutboxStatus::Route& route) { return route.age_s; });
}

}  // namespace

std::string metrics_text(const LineLook& line) {
  OpenMetrics metrics;
  metrics.begin("contorno_build", Kind::Info, "", "The program.");
  metrics.sample("_info", {{"version", line.version}}, std::uint64_t{1});
  metrics.begin("process_start_time_seconds", Kind::Gauge, "seconds",
                "When the program began, as Unix time.");
  metrics.sample("", {}, line.started_s);
  metrics.begin("contorno_progress", Kind::Gauge, "", "1: all threads get on, as /healthz says.");
  metrics.sample("", {}, std::uint64_t{health_fault(line).empty()});
  metrics.begin("contorno_ready", Kind::Gauge, "", "1: the line is ready, as /readyz says.");
  metrics.sample("", {}, std::uint64_t{readiness_fault(line).empty()});
  metrics.begin("contorno_broken_runs", Kind::Gauge, "",
                "Runs in a row whose device broke, before this one.");
  metrics.sample("", {}, static_cast<std::uint64_t>(std::max(0, line.broken_before)));
  add_frames(metrics, line.cameras);
  add_latency(metrics, line.cameras);
  add_states(metrics, line.cameras);
  add_outboxes(metrics, line.outboxes);
  return std::move(metrics).finish();
}

std::string health_fault(const LineLook& line) {
  if (line.since_look_s > kMostSinceLook_s)
    return fmt::format("nobody has looked at the cameras for {:.1f} s", line.since_look_s);
  return line.hang.value_or("");
}

std::string fallback_notes(const LineLook& line) {
  std::string text;
  for (const CameraLook& one : line.cameras)
    if (!one.fallback.empty())
      text += fmt::format("{}: on the CPU: {}\n", one.name, printable_sentence(one.fallback));
  return text;
}

std::string readiness_fault(const LineLook& line) {
  if (line.cameras.empty()) return "the run has not begun, or is over";
  for (const CameraLook& one : line.cameras)
    if (one.device_broke) return fmt::format("{}: the device broke", one.name);
  bool any_goes = false;
  for (const CameraLook& one : line.cameras) {
    const bool goes = one.state == CameraState::Running || one.state == CameraState::Blocked;
    if (one.required && !goes) return fmt::format("{}: it is required, and {}", one.name, name_of(one.state));
    any_goes = any_goes || goes;
  }
  if (!any_goes) return "no camera runs";
  for (const CameraLook& one : line.cameras)
    if (line.max_lag_s > 0 && one.lag_s > line.max_lag_s)
      return fmt::format("{}: its oldest frame without a result is {:.1f} s old, allowed {:g}", one.name,
                         one.lag_s, line.max_lag_s);
  for (const OutboxStatus& one : line.outboxes)
    if (!one.takes_messages)
      return fmt::format("the outbox '{}' takes no messages", printable_sentence(one.path));
  return {};
}

}  // namespace contorno
