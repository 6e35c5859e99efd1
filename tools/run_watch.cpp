#include "tools/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/say.h"

namespace contorno {
namespace {

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

/// Says when a live source falls silent, and when it is back.
class SilenceWatch {
 public:
  explicit SilenceWatch(std::int64_t now) : start_(now), last_(now) {}

  /// A sentence, or nothing. `frames` have come so far.
  std::string look(std::uint64_t frames, std::int64_t now) {
    if (frames != frames_) {
      const double pause = seconds_between(last_, now);
      frames_ = frames;
      last_ = now;
      return std::exchange(silent_, false) ? fmt::format("frames come again after {:.1f} s", pause) : "";
    }
    // A camera of few frames a second is not silent between them.
    const double interval =
        frames_ > 1 ? seconds_between(start_, last_) / static_cast<double>(frames_ - 1) : 0;
    if (silent_ || seconds_between(last_, now) < std::max(kSilence, 4 * interval)) return "";
    silent_ = true;
    return fmt::format("no frame has come for {:.1f} s", seconds_between(last_, now));
  }

 private:
  static constexpr double kSilence = 0.9;  // s: said within a second
  std::int64_t start_, last_;
  std::uint64_t frames_ = 0;
  bool silent_ = false;
};

[[noreturn]] void end_without_device(const Runner& runner, const WatchOptions& options) {
  const FrameCounts& frames = runner.report().frames;
  say(
      fmt::format("the device has been at work on one frame for more than {:g} s (device_timeout) and was "
                  "given up; of {} "
                  "frames {} were delivered and {} failed",
                  options.device_timeout_ms * 1e-3, frames.offered, frames.delivered, frames.failed));
  try {
    options.account();
  } catch (const std::exception& error) {
    say(error.what());
  }
  std::fflush(nullptr);
  // Destructors would wait for the device.
  std::_Exit(static_cast<int>(ExitCode::Internal));
}

void watch(Runner& runner, const WatchOptions& options, ProgressLine& progress, SilenceWatch& silence,
           std::int64_t start) {
  const auto timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(options.device_timeout_ms * 1e6));
  if (timeout.count() > 0 && runner.give_up_on_device(timeout)) {
    progress.clear();
    end_without_device(runner, options);
  }
  const std::int64_t now = now_ns();
  const FrameCounts frames = runner.progress();
  if (options.live && !options.quiet)
    if (const std::string news = silence.look(frames.offered, now); !news.empty()) {
      progress.clear();
      say(news);
    }
  progress.show(
      progress_text(frames, options.expected, runner.latency_now_us(), seconds_between(start, now)));
}

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

RunReport run_watched(Runner& runner, const WatchOptions& options) {
  ProgressLine progress(!options.quiet);
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  const InterruptGuard guard;
  std::thread watcher = start_thread([&] {
    const std::int64_t start = now_ns();
    SilenceWatch silence(start);
    bool asked = false;
    std::unique_lock lock(mutex);
    while (!done_changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      if (InterruptGuard::requested() != 0 && !asked) {
        asked = true;
        runner.request_stop();
      }
      watch(runner, options, progress, silence, start);
    }
  });
  const auto stop_watching = [&] {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    done_changed.notify_all();
    watcher.join();
    progress.clear();
  };
  try {
    RunReport report = runner.run();
    stop_watching();
    return report;
  } catch (...) {
    stop_watching();
    throw;
  }
}

}  // namespace contorno
