#include "tools/ops/line_pages.h"

#include <chrono>

#include "pipeline/shared/clock.h"
#include "pipeline/shared/printable.h"
#include "plugins/publish/publish.h"
#include "tools/ops/open_metrics.h"

namespace contorno {
namespace {

double unix_time_s() {
  using std::chrono::duration;
  return duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A line: what is wrong, or "ok", and behind it what is less well.
OpsPage state_page(const std::string& fault, const std::string& notes) {
  constexpr int kUnavailable = 503;
  if (fault.empty()) return {.body = "ok\n" + notes};
  return {.status = kUnavailable, .body = printable_sentence(fault) + "\n"};
}

CameraLook look_at(const Camera& camera) {
  const std::string& name = camera.spec().name;
  return {.name = name.empty() ? "source" : name,
          .state = camera.state(),
          .required = camera.spec().settings.required,
          .device_broke = camera.device_broke(),
          .frames = camera.progress(),
          .reconnections = camera.reconnections(),
          .level = camera.level(),
          .lag_s = camera.lag_seconds(),
          .fallback = camera.spec().fallback};
}

}  // namespace

LinePages::LinePages(int broken_before, double max_lag_s)
    : started_s_(unix_time_s()), broken_before_(broken_before), max_lag_s_(max_lag_s), looked_ns_(now_ns()) {}

LinePages::Shown::Shown(LinePages& pages, const Fleet& fleet, LatencyOf latency) : pages_(pages) {
  const std::lock_guard lock(pages_.mutex_);
  pages_.fleet_ = &fleet;
  pages_.latency_ = std::move(latency);
  pages_.looked_ns_ = now_ns();
}

LinePages::Shown::~Shown() {
  const std::lock_guard lock(pages_.mutex_);
  pages_.fleet_ = nullptr;
}

void LinePages::note_progress(const std::optional<std::string>& hang) {
  const std::lock_guard lock(mutex_);
  hang_ = hang;
  looked_ns_ = now_ns();
}

LineLook LinePages::look() {
  LineLook line{.outboxes = outbox_statuses(),
                .max_lag_s = max_lag_s_,
                .broken_before = broken_before_,
                .started_s = started_s_,
                .version = CONTORNO_VERSION};
  const std::lock_guard lock(mutex_);
  // While nothing is shown nobody looks.
  if (fleet_ == nullptr) return line;
  line.hang = hang_;
  line.since_look_s = static_cast<double>(now_ns() - looked_ns_) * 1e-9;
  for (std::size_t i = 0; i < fleet_->size(); ++i) {
    line.cameras.push_back(look_at(fleet_->camera(i)));
    if (latency_) line.cameras.back().latency = latency_(i);
  }
  return line;
}

std::optional<OpsPage> LinePages::page(std::string_view path) {
  if (path == "/metrics") return OpsPage{.type = OpenMetrics::kType, .body = metrics_text(look())};
  if (path != "/healthz" && path != "/readyz") return std::nullopt;
  const LineLook line = look();
  return state_page(path == "/healthz" ? health_fault(line) : readiness_fault(line), fallback_notes(line));
}

}  // namespace contorno
