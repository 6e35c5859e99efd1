#include "tools/run_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "cuda/error.h"
#include "pipeline/clock.h"
#include "tools/interrupt.h"

namespace contorno {
namespace {

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

/// A line that is written over itself on a terminal, and nothing anywhere else.
class Progress {
 public:
  explicit Progress(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) != 0) {}
  void show(const FrameCounts& frames, double latency_us, double seconds) const {
    if (!shown_) return;
    fmt::print(stderr, "\r{} frames  {:.1f}/s  {:.2f} ms  {} dropped  {} failed ", frames.delivered,
               static_cast<double>(frames.delivered) / std::max(seconds, 1e-9), latency_us * 1e-3,
               frames.dropped(), frames.failed);
    std::fflush(stderr);
  }
  void clear() const {
    if (shown_) fmt::print(stderr, "\r{:78}\r", "");
  }

 private:
  bool shown_;
};

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
  fmt::print(
      stderr,
      "contorno: the device has been at work on one frame for more than {:g} s (device_timeout) and was "
      "given up; of {} frames {} were delivered and {} failed\n",
      options.device_timeout_ms * 1e-3, frames.offered, frames.delivered, frames.failed);
  try {
    options.account();
  } catch (const std::exception& error) {
    fmt::print(stderr, "contorno: {}\n", error.what());
  }
  std::fflush(nullptr);
  // Destructors would wait for the device.
  std::_Exit(static_cast<int>(ExitCode::Internal));
}

void watch(Runner& runner, const WatchOptions& options, const Progress& progress, SilenceWatch& silence,
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
      fmt::print(stderr, "contorno: {}\n", news);
    }
  progress.show(frames, runner.latency_now_us(), seconds_between(start, now));
}

}  // namespace

RunReport run_watched(Runner& runner, const WatchOptions& options) {
  const Progress progress(!options.quiet);
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  const InterruptGuard guard;
  std::thread watcher([&] {
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
