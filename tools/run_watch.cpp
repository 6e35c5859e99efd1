#include "tools/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cuda/device.h"
#include "pipeline/run/progress_judge.h"
#include "pipeline/shared/clock.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/say.h"
#include "tools/service_manager.h"

namespace contorno {
namespace {

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

/// Says when a live source falls silent, and when it is back.
class SilenceWatch {
 public:
  explicit SilenceWatch(std::int64_t now) : start_(now), last_(now) {}

  /// An event, or none. `frames` have come so far.
  std::optional<LogEvent> look(std::uint64_t frames, std::int64_t now) {
    if (frames != frames_) {
      const double pause = seconds_between(last_, now);
      frames_ = frames;
      last_ = now;
      if (!std::exchange(silent_, false)) return std::nullopt;
      return event(Severity::Notice, "sending", pause,
                   fmt::format("frames come again after {:.1f} s", pause));
    }
    // A camera of few frames a second is not silent between them.
    const double interval =
        frames_ > 1 ? seconds_between(start_, last_) / static_cast<double>(frames_ - 1) : 0;
    const double pause = seconds_between(last_, now);
    if (silent_ || pause < std::max(kSilence, 4 * interval)) return std::nullopt;
    silent_ = true;
    return event(Severity::Warning, "silent", pause, fmt::format("no frame has come for {:.1f} s", pause));
  }

 private:
  static LogEvent event(Severity severity, const char* state, double seconds, const std::string& sentence) {
    return {.severity = severity,
            .name = "source",
            .fields = {{"state", state}, {"seconds", fmt::format("{:.1f}", seconds)}},
            .sentence = sentence};
  }
  static constexpr double kSilence = 0.9;  // s: said within a second
  std::int64_t start_, last_;
  std::uint64_t frames_ = 0;
  bool silent_ = false;
};

/// Frames of all cameras of which a device was given up.
FrameCounts counts_of(const Fleet& fleet) {
  FrameCounts sum;
  for (std::size_t i = 0; i < fleet.size(); ++i)
    if (const Runner* const runner = fleet.camera(i).runner()) sum += runner->report().frames;
  return sum;
}

bool has_several_devices() {
  return device_report().devices.size() > 1;
}

/// The first device that was given up.
std::string given_up_text(const Fleet& fleet) {
  if (has_several_devices())
    for (const Fleet::LostDevice& one : fleet.lost_devices())
      if (one.hangs) return "device " + device_label(one.device);
  return "the device";
}

[[noreturn]] void end_without_device(Fleet& fleet, const WatchOptions& options) {
  // Those that do not wait for the device end by themselves.
  if (fleet.size() > 1) fleet.wait_for(std::chrono::milliseconds(500));
  const FrameCounts frames = counts_of(fleet);
  finish_log();
  say(fmt::format(
      "{} has been at work on one frame for more than {:g} s (device_timeout) and was given up; of "
      "{} frames {} were delivered and {} failed",
      given_up_text(fleet), options.device_timeout_ms * 1e-3, frames.offered, frames.delivered,
      frames.failed));
  try {
    if (options.account) options.account();
  } catch (const std::exception& error) {
    say(error.what());
  }
  std::fflush(nullptr);
  // Destructors would wait for the device.
  std::_Exit(static_cast<int>(ExitCode::Internal));
}

/// Says what becomes of the cameras that have names, and at which level of quality all cameras run.
class StateLog {
 public:
  explicit StateLog(const Fleet& fleet)
      : fleet_(fleet), seen_(fleet.size(), CameraState::Connecting), levels_(fleet.size(), 0) {}

  /// An event for each camera that is doing something else than before.
  std::vector<LogEvent> look() {
    std::vector<LogEvent> events;
    for (std::size_t i = 0; i < fleet_.size(); ++i) {
      const Camera& camera = fleet_.camera(i);
      if (const int level = camera.level(); std::exchange(levels_[i], level) != level)
        events.push_back(level_event(camera.spec().name, level));
      if (camera.spec().name.empty()) continue;
      const CameraState state = camera.state();
      if (std::exchange(seen_[i], state) == state) continue;
      LogEvent& event = events.emplace_back(
          LogEvent{.severity = severity_of(state),
                   .camera = camera.spec().name,
                   .name = "state",
                   .fields = {{"state", std::string(name_of(state))}},
                   .sentence = fmt::format("{}: {}", camera.spec().name, name_of(state))});
      if (const auto device = camera.device();
          state == CameraState::Running && device && has_several_devices()) {
        event.fields.emplace_back("device", std::to_string(*device));
        event.sentence += " on device " + device_label(*device);
      }
    }
    if (has_several_devices()) add_lost_devices(events);
    return events;
  }

 private:
  static LogEvent level_event(const std::string& camera, int level) {
    const std::string sentence = level == 0 ? "full quality again" : fmt::format("quality level {}", level);
    return {.severity = level == 0 ? Severity::Notice : Severity::Warning,
            .camera = camera,
            .name = "level",
            .fields = {{"level", std::to_string(level)}},
            .sentence = camera.empty() ? sentence : fmt::format("{}: {}", camera, sentence)};
  }
  static Severity severity_of(CameraState state) {
    switch (state) {
      case CameraState::Failed:
        return Severity::Error;
      case CameraState::Stalled:
      case CameraState::Blocked:
      case CameraState::Lost:
        return Severity::Warning;
      case CameraState::Connecting:
      case CameraState::Running:
      case CameraState::Ended:
        break;
    }
    return Severity::Info;
  }

  /// The reason why cameras end, while those of other devices go on.
  void add_lost_devices(std::vector<LogEvent>& events) {
    const std::vector<Fleet::LostDevice> lost = fleet_.lost_devices();
    for (; lost_ < lost.size(); ++lost_)
      events.push_back({.severity = Severity::Error,
                        .name = "device",
                        .fields = {{"device", std::to_string(lost[lost_].device)},
                                   {"state", lost[lost_].hangs ? "hangs" : "broke"}},
                        .sentence = lost[lost_].reason});
  }

  const Fleet& fleet_;
  std::vector<CameraState> seen_;
  std::vector<int> levels_;
  std::size_t lost_ = 0;  // devices that were told
};

/// Tells who started the program, and who asks for its health, whether the cameras get on.
class ProgressWatch {
 public:
  ProgressWatch(const Fleet& fleet, const WatchOptions& options)
      : fleet_(fleet), options_(options), judge_(limit_of(options.service)) {}

  /// A sentence to be shown, or nothing.
  std::string look(std::int64_t now) {
    if (options_.service == nullptr && !options_.on_progress) return "";
    const std::optional<std::string> hang = judge_.look(fleet_.threads(), now);
    if (options_.on_progress) options_.on_progress(hang);
    if (options_.service != nullptr && fleet_.has_answered()) {
      options_.service->say_ready();
      if (!hang) options_.service->feed(now);
    }
    const bool is_news = hang.has_value() && !std::exchange(hung_, hang.has_value());
    hung_ = hang.has_value();
    return is_news ? *hang : "";
  }

  void say_status(const std::string& text, std::int64_t now) {
    constexpr std::int64_t kBetween = 5'000'000'000;
    if (options_.service == nullptr || (said_ns_ != 0 && now - said_ns_ < kBetween)) return;
    said_ns_ = now;
    options_.service->say_status(text);
  }

  void end() {
    if (options_.service == nullptr) return;
    options_.service->say_ready();  // a run may end before it is looked at
    options_.service->say_stopping();
  }

 private:
  /// Half of what the watchdog allows, which is fed in its quarters.
  static std::int64_t limit_of(const ServiceManager* service) {
    constexpr std::int64_t kAlone = 30'000'000'000;
    return service != nullptr && service->watchdog_ns() ? *service->watchdog_ns() / 2 : kAlone;
  }

  const Fleet& fleet_;
  const WatchOptions& options_;
  ProgressJudge judge_;
  bool hung_ = false;
  std::int64_t said_ns_ = 0;
};

class Watch {
 public:
  Watch(Fleet& fleet, const WatchOptions& options)
      : fleet_(fleet),
        options_(options),
        progress_(!options.quiet),
        start_(now_ns()),
        silence_(start_),
        states_(fleet),
        threads_(fleet, options) {}

  void run() {
    while (!fleet_.wait_for(options_.between)) {
      if (InterruptGuard::requested() != 0 && !std::exchange(asked_, true)) {
        if (options_.service != nullptr) options_.service->say_stopping();
        fleet_.request_stop();
      }
      look();
    }
    threads_.end();
    if (!options_.quiet && options_.tells_states) show(states_.look());
    progress_.clear();
    // The cameras of other devices have ended, and the threads of these never will.
    if (fleet_.has_given_up()) end_without_device(fleet_, options_);
    finish_log();
  }

 private:
  void look() {
    const auto timeout =
        std::chrono::nanoseconds(static_cast<std::int64_t>(options_.device_timeout_ms * 1e6));
    if (timeout.count() > 0 && fleet_.give_up_on_device(timeout)) {
      progress_.clear();
      end_without_device(fleet_, options_);
    }
    fleet_.look();
    if (options_.on_look) options_.on_look();
    const std::int64_t now = now_ns();
    const FrameCounts frames = fleet_.progress();
    if (options_.live && !options_.quiet)
      if (const std::optional<LogEvent> news = silence_.look(frames.offered, now)) show({*news});
    if (!options_.quiet && options_.tells_states) show(states_.look());
    if (const std::string hang = threads_.look(now); !hang.empty())
      show({{.severity = Severity::Error, .name = "hang", .sentence = hang}});
    tell_due();
    // Whoever counts allocations has nobody to show a text to.
    if (!progress_.shown() && options_.service == nullptr) return;
    const std::string text =
        progress_text(frames, options_.expected, latency_us(), seconds_between(start_, now));
    threads_.say_status(fleet_.size() > 1 ? cameras_text() + text : text, now);
    if (progress_.shown()) progress_.show(text);
  }

  void show(const std::vector<LogEvent>& events) {
    if (events.empty()) return;
    progress_.clear();
    for (const LogEvent& event : events) tell(event);
  }

  std::string cameras_text() const {
    std::size_t running = 0;
    for (std::size_t i = 0; i < fleet_.size(); ++i)
      running += fleet_.camera(i).state() == CameraState::Running ? 1 : 0;
    return fmt::format("{} of {} cameras run, ", running, fleet_.size());
  }

  /// The latency of the first camera that runs.
  double latency_us() const {
    for (std::size_t i = 0; i < fleet_.size(); ++i)
      if (const Runner* const runner = fleet_.camera(i).runner()) return runner->latency_now_us();
    return 0;
  }

  Fleet& fleet_;
  const WatchOptions& options_;
  ProgressLine progress_;
  std::int64_t start_;
  SilenceWatch silence_;
  StateLog states_;
  ProgressWatch threads_;
  bool asked_ = false;
};

/// "45 s", "3:20", "2:03:20".
std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_text(const FrameCounts& frames, std::int64_t expected, double latency_us,
                          double seconds) {
  const std::uint64_t done = frames.delivered + frames.failed + frames.dropped();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = fmt::format("{} frames", done);
  if (expected > 0) {
    // The length of a video may be an estimate.
    const std::uint64_t all = std::max(done, static_cast<std::uint64_t>(expected));
    text = fmt::format("{} of {} frames ({} %)", done, all, done * 100 / all);
    if (done > 0 && rate > 0)
      text += fmt::format(", {} left", duration_text(static_cast<double>(all - done) / rate));
  }
  text += fmt::format(", {:.1f}/s", rate);
  if (latency_us > 0) text += fmt::format(", {:.1f} ms", latency_us * 1e-3);
  if (frames.dropped() > 0) text += fmt::format(", {} dropped", frames.dropped());
  if (frames.failed > 0) text += fmt::format(", {} failed", frames.failed);
  return text;
}

void watch_fleet(Fleet& fleet, const WatchOptions& options) {
  const InterruptGuard guard;
  Watch watch(fleet, options);
  fleet.start();
  watch.run();
  fleet.wait();
}

RunReport run_watched(Runner& runner, const WatchOptions& options) {
  Fleet fleet({&runner});
  watch_fleet(fleet, options);
  return fleet.take(0);
}

}  // namespace contorno
