#include "tools/latency/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "base/error.h"
#include "pipeline/run/fleet.h"
#include "pipeline/shared/clock.h"
#include "plugins/text/pango.h"
#include "tools/interrupt.h"
#include "tools/latency/measured.h"
#include "tools/latency/resources.h"
#include "tools/latency/sinks.h"
#include "tools/progress.h"
#include "tools/run_watch.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno::latency {
namespace {

/// Rows of a closed loop, which ends when they are full: nobody knows how many frames it will have. A frame
/// that takes less than this is not expected.
constexpr double kShortestFrame_s = 50e-6;
constexpr double kMostClosedFrames = 1e6;
/// Time in which the threads are started before the first frame is due.
constexpr std::int64_t kStartUp_ns = 50'000'000;
/// The most memory of all records together.
constexpr std::size_t kMostRecordBytes = std::size_t{2} << 30;

std::size_t warm_up_frames(const Load& load) {
  return std::max(kWarmUpFrames, static_cast<std::size_t>(std::ceil(load.warm_up_s * load.rate)));
}

std::size_t planned_frames(const Load& load) {
  if (load.loop == Loop::Closed && load.rate == 0)
    return kWarmUpFrames + static_cast<std::size_t>(std::min(
                               kMostClosedFrames, (load.warm_up_s + load.duration_s) / kShortestFrame_s));
  return warm_up_frames(load) +
         std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(load.duration_s * load.rate)));
}

Delivery delivery_of(const Bench& bench, const Load& load, std::size_t frames) {
  Delivery delivery{
      .rate = load.rate, .first_counted = warm_up_frames(load), .allocations = bench.allocations};
  if (load.loop == Loop::Open) {
    delivery.schedule = schedule(load.arrival, load.rate, frames, load.seed);
    delivery.allocations = nullptr;
    return delivery;
  }
  if (load.rate > 0) delivery.interval_ns = static_cast<std::int64_t>(1e9 / load.rate);
  delivery.warm_up_ns = static_cast<std::int64_t>(load.warm_up_s * 1e9);
  delivery.duration_ns = static_cast<std::int64_t>(load.duration_s * 1e9);
  return delivery;
}

/// A runner with all that it borrows.
class Camera {
 public:
  Camera(const Bench& bench, const Load& load, int number, std::size_t frames)
      : columns_(columns_of(bench.graph)),
        records_(frames, columns_),
        delivery_(delivery_of(bench, load, frames)),
        files_(command_files()),
        text_(make_pango_text()),
        source_(bench.held, bench.source, delivery_, records_) {
    std::filesystem::path folder(bench.output_folder);
    if (load.cameras > 1) folder /= fmt::format("camera-{}", number);
    if (bench.with_sinks) make_output_folder(folder);
    files_.add_input(bench.graph_name, "the graph");
    if (bench.source != nullptr) files_.add_inputs(bench.graph, *bench.source);
    for (const SinkSpec& spec : bench.graph.sinks) {
      auto sink = bench.with_sinks ? spec.type->make(spec.params) : nullptr;
      sinks_.push_back(std::make_unique<MeasuredSink>(std::move(sink), sinks_.size(), records_));
      bindings_.push_back(bind_sink(spec, *sinks_.back()));
    }
    runner_.emplace(bench.graph, source_, bindings_,
                    RunOptions{.backend = bench.backend,
                               .output_root = folder.string(),
                               .outputs = &files_,
                               .probe_every = load.probe_every,
                               .text = text_.get(),
                               .on_failure =
                                   [this](const FrameFailure& failure) {
                                     records_.outcome(failure.frame) = Outcome::Failed;
                                   },
                               .on_times = [this](const FrameTimes& times) { note(times); },
                               .on_drop =
                                   [this](std::uint64_t frame, DropReason reason) {
                                     records_.outcome(frame) = reason == DropReason::RingFull
                                                                   ? Outcome::RingFull
                                                                   : Outcome::Deadline;
                                   }});
  }

  /// When the first frame is due; before the runner runs.
  void set_start(std::int64_t start_ns) {
    source_.start(start_ns, [this] { return runner_->progress(); });
  }
  Runner& runner() { return *runner_; }
  /// What the camera measured in the run of this report. Throws Error for a sink that broke.
  CameraRun take(RunReport report) {
    for (const SinkOutcome& sink : report.sinks)
      if (!sink.error.empty()) throw Error(sink.code, fmt::format("sink '{}': {}", sink.name, sink.error));
    return {.records = std::move(records_),
            .offered = source_.offered(),
            .report = std::move(report),
            .allocations = source_.allocations()};
  }

 private:
  void note(const FrameTimes& times) {
    const auto frame = static_cast<std::size_t>(times.frame);
    records_.time(frame, Columns::kArrived) = times.arrived_ns;
    records_.time(frame, Columns::kLaunched) = times.arrived_ns + times.queued_ns;
    if (times.parts != nullptr) note_parts(frame, *times.parts);
    records_.time(frame, columns_.finished()) = times.arrived_ns + times.latency_ns;
    records_.outcome(frame) = Outcome::Delivered;
  }
  void note_parts(std::size_t frame, const PartTimes& parts) {
    records_.time(frame, Columns::kStarted) = parts.start_ns;
    records_.time(frame, Columns::kUploaded) = parts.uploaded_ns;
    for (std::size_t part = 0; part < parts.part_ns.size(); ++part)
      records_.time(frame, columns_.part_end(part)) = parts.part_ns[part];
    records_.time(frame, columns_.downloaded()) = parts.downloaded_ns;
  }

  Columns columns_;
  FrameRecords records_;
  Delivery delivery_;
  OutputRegister files_;
  std::unique_ptr<TextRasteriser> text_;
  TimedSource source_;
  std::vector<std::unique_ptr<MeasuredSink>> sinks_;
  std::vector<SinkBinding> bindings_;
  std::optional<Runner> runner_;
};

using Cameras = std::vector<std::unique_ptr<Camera>>;

Fleet fleet_of(const Cameras& cameras) {
  std::vector<Runner*> runners;
  for (const auto& camera : cameras) runners.push_back(&camera->runner());
  return Fleet(runners);
}

void end_if_device_hangs(Fleet& fleet, double timeout_ms) {
  const auto timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(timeout_ms * 1e6));
  if (timeout.count() == 0 || !fleet.give_up_on_device(timeout)) return;
  say(fmt::format(
      "the device has been at work on one frame for more than {:g} s (device_timeout) and was given up",
      timeout_ms * 1e-3));
  std::fflush(nullptr);
  // Destructors would wait for the device.
  std::_Exit(static_cast<int>(ExitCode::Internal));
}

/// Watches all cameras until they are done. The result is what was used once the warm-up was over.
UsedSoFar watch(Fleet& fleet, Runner& first, const Bench& bench, const Load& load, std::int64_t start_ns,
                int& signal) {
  ProgressLine progress(!bench.quiet);
  const double frames_s = load.rate > 0 ? static_cast<double>(warm_up_frames(load)) / load.rate : 0;
  const std::int64_t warm_ns = start_ns + static_cast<std::int64_t>(std::max(load.warm_up_s, frames_s) * 1e9);
  const std::int64_t expected =
      load.loop == Loop::Open || load.rate > 0
          ? static_cast<std::int64_t>(planned_frames(load)) * static_cast<std::int64_t>(load.cameras)
          : -1;
  UsedSoFar begin = used_so_far();
  bool warm = false;
  while (!fleet.done()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!warm && now_ns() >= warm_ns) warm = true, begin = used_so_far();
    if (signal == 0 && InterruptGuard::requested() != 0) {
      signal = InterruptGuard::requested();
      fleet.request_stop();
    }
    end_if_device_hangs(fleet, bench.graph.settings.device_timeout_ms);
    if (!progress.shown()) continue;
    progress.show(progress_text(fleet.progress(), expected, first.latency_now_us(),
                                static_cast<double>(now_ns() - start_ns) * 1e-9));
  }
  progress.clear();
  return begin;
}

void check_record_memory(const Bench& bench, const Load& load, std::size_t frames) {
  const Columns columns = columns_of(bench.graph);
  const double bytes =
      static_cast<double>(frames) * static_cast<double>(columns.count() + 1) * 8 * load.cameras;
  if (bytes <= static_cast<double>(kMostRecordBytes)) return;
  throw Error(ExitCode::BadOption,
              fmt::format("{} frames of {} cameras are too many to keep the times of, at most {} MiB are "
                          "taken for them; choose a shorter --duration or a lower --fps",
                          frames, load.cameras, kMostRecordBytes >> 20));
}

}  // namespace

Measurement measure(const Bench& bench, const Load& load) {
  const std::size_t frames = planned_frames(load);
  check_record_memory(bench, load, frames);
  Measurement result{.load = load, .warm_up_frames = warm_up_frames(load)};
  Cameras cameras;
  for (int number = 1; number <= load.cameras; ++number)
    cameras.push_back(std::make_unique<Camera>(bench, load, number, frames));
  result.slot = cameras[0]->runner().slot_memory();
  const InterruptGuard guard;
  result.start_ns = now_ns() + kStartUp_ns;
  for (const auto& camera : cameras) camera->set_start(result.start_ns);
  Fleet fleet = fleet_of(cameras);
  fleet.start();
  const UsedSoFar begin = watch(fleet, cameras[0]->runner(), bench, load, result.start_ns, result.signal);
  const UsedSoFar end = used_so_far();
  fleet.wait();
  result.resources = used_between(begin, end);
  for (std::size_t i = 0; i < cameras.size(); ++i) result.cameras.push_back(cameras[i]->take(fleet.take(i)));
  result.slots = result.cameras[0].report.slots;
  return result;
}

}  // namespace contorno::latency
