#include "tools/latency/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "base/error.h"
#include "pipeline/run/fleet.h"
#include "pipeline/shared/clock.h"
#include "plugins/text/pango.h"
#include "tools/interrupt.h"
#include "tools/latency/measured.h"
#include "tools/latency/resources.h"
#include "tools/latency/sinks.h"
#include "tools/run_watch.h"
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

/// The load of a camera, which may have a rate of its own. All are measured at the same time: the warm-up is
/// over once it is for each.
Load load_of(const Bench& bench, std::size_t number, Load load) {
  if (bench.fleet == nullptr) return load;
  for (const BenchCamera& camera : bench.cameras)
    if (camera.rate > 0)
      load.warm_up_s = std::max(load.warm_up_s, static_cast<double>(kWarmUpFrames) / camera.rate);
  load.rate = bench.cameras[number].rate;
  return load;
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

/// What one camera of a measurement notes, and what its runner borrows.
class MeasuredCamera {
 public:
  MeasuredCamera(const Bench& bench, const Load& load, std::size_t number)
      : bench_(bench),
        camera_(bench.camera(number)),
        load_(load_of(bench, number, load)),
        folder_(bench.output_folder),
        columns_(columns_of(*camera_.graph)),
        records_(planned_frames(load_), columns_),
        delivery_(delivery_of(bench, load_, records_.size())),
        files_(command_files()),
        text_(make_pango_text()) {
    if (bench.fleet != nullptr)
      name_ = bench.fleet->cameras[number].name;  // which the paths of its sinks have
    else if (load.cameras > 1)
      folder_ /= fmt::format("camera-{}", number + 1);
    if (bench.with_sinks) make_output_folder(folder_);
    files_.add_input(bench.graph_name, "the graph");
    if (camera_.source != nullptr) files_.add_inputs(*camera_.graph, *camera_.source);
  }

  std::unique_ptr<Source> open() {
    auto source = std::make_unique<TimedSource>(camera_.held, camera_.source, delivery_, records_);
    source_ = source.get();
    return source;
  }
  CameraSetUp set_up(const GraphSpec& graph) {
    CameraSetUp made;
    for (const SinkSpec& spec : graph.sinks) {
      auto sink = bench_.with_sinks ? spec.type->make(spec.params) : nullptr;
      sinks_.push_back(std::make_unique<MeasuredSink>(std::move(sink), sinks_.size(), records_));
      made.sinks.push_back(bind_sink(spec, *sinks_.back()));
    }
    made.options = {
        .backend = camera_.backend,
        .output_root = folder_.string(),
        .outputs = &files_,
        .probe_every = load_.probe_every,
        .text = text_.get(),
        .on_failure =
            [this](const FrameFailure& failure) { records_.outcome(failure.frame) = Outcome::Failed; },
        .on_times = [this](const FrameTimes& times) { note(times); },
        .on_drop =
            [this](std::uint64_t frame, DropReason reason) {
              records_.outcome(frame) =
                  reason == DropReason::RingFull ? Outcome::RingFull : Outcome::Deadline;
            }};
    return made;
  }
  /// When the first frame is due; before the camera runs.
  void set_start(std::int64_t start_ns, const Camera& camera) {
    source_->start(start_ns, [&camera] { return camera.progress(); });
  }
  /// What the camera measured in the run of this report. Throws Error for a sink that broke.
  CameraRun take(RunReport report) {
    for (const SinkOutcome& sink : report.sinks)
      if (!sink.error.empty()) throw Error(sink.code, fmt::format("sink '{}': {}", sink.name, sink.error));
    return {.records = std::move(records_),
            .offered = source_->offered(),
            .warm_up_frames = warm_up_frames(load_),
            .report = std::move(report),
            .allocations = source_->allocations(),
            .name = name_,
            .rate = load_.rate,
            .deadline_ms = camera_.deadline_ms};
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

  const Bench& bench_;
  const BenchCamera& camera_;
  Load load_;
  std::string name_;
  std::filesystem::path folder_;
  Columns columns_;
  FrameRecords records_;
  Delivery delivery_;
  OutputRegister files_;
  std::unique_ptr<TextRasteriser> text_;
  std::vector<std::unique_ptr<MeasuredSink>> sinks_;
  TimedSource* source_ = nullptr;  // the fleet's
};

using MeasuredCameras = std::vector<std::unique_ptr<MeasuredCamera>>;

/// The cameras of `sources:`, with their weights; else cameras without names: nothing shares the processors
/// out among them.
FleetSpec fleet_of(const Bench& bench, const Load& load) {
  if (bench.fleet != nullptr) return *bench.fleet;
  FleetSpec spec;
  for (int number = 0; number < load.cameras; ++number) spec.cameras.push_back({.graph = bench.graph()});
  return spec;
}

CameraHooks hooks_of(MeasuredCameras& cameras) {
  CameraHooks hooks;
  hooks.open = [&](std::size_t camera, const GraphSpec&) { return cameras[camera]->open(); };
  hooks.set_up = [&](std::size_t camera, const GraphSpec& graph, Source&, const std::string&) {
    return cameras[camera]->set_up(graph);
  };
  hooks.reopens = false;  // a schedule has an end
  return hooks;
}

/// Watches all cameras until they are done. The result is what was used once the warm-up was over.
UsedSoFar watch(Fleet& fleet, const Bench& bench, const Load& load, Measurement& result) {
  double warm_s = load.warm_up_s;
  std::int64_t expected = 0;
  for (std::size_t number = 0; number < fleet.size(); ++number) {
    const Load own = load_of(bench, number, load);
    warm_s = std::max(warm_s, own.rate > 0 ? static_cast<double>(warm_up_frames(own)) / own.rate : 0);
    const bool is_known = expected >= 0 && (own.loop == Loop::Open || own.rate > 0);
    expected = is_known ? expected + static_cast<std::int64_t>(planned_frames(own)) : -1;
  }
  const std::int64_t warm_ns = result.start_ns + static_cast<std::int64_t>(warm_s * 1e9);
  UsedSoFar begin = used_so_far();
  bool warm = false;
  watch_fleet(fleet, {.quiet = bench.quiet,
                      .tells_states = false,
                      .expected = expected,
                      .device_timeout_ms = bench.graph().settings.device_timeout_ms,
                      .account = {},
                      .on_look =
                          [&] {
                            if (!warm && now_ns() >= warm_ns) warm = true, begin = used_so_far();
                          },
                      .between = std::chrono::milliseconds(20)});
  // One that came while the last frames ended has to be seen, too: a search would go on.
  result.signal = InterruptGuard::requested();
  return begin;
}

void check_record_memory(const Bench& bench, const Load& load) {
  const Columns columns = columns_of(bench.graph());
  std::size_t frames = 0;
  for (int number = 0; number < load.cameras; ++number)
    frames += planned_frames(load_of(bench, static_cast<std::size_t>(number), load));
  const double bytes = static_cast<double>(frames) * static_cast<double>(columns.count() + 1) * 8;
  if (bytes <= static_cast<double>(kMostRecordBytes)) return;
  throw Error(ExitCode::BadOption,
              fmt::format("{} frames of {} cameras are too many to keep the times of, at most {} MiB are "
                          "taken for them; choose a shorter --duration or a lower --fps",
                          frames, load.cameras, kMostRecordBytes >> 20));
}

/// What the slots of all cameras take.
Memory memory_of(const Fleet& fleet) {
  Memory sum;
  for (std::size_t number = 0; number < fleet.size(); ++number) {
    const Runner& runner = *fleet.camera(number).runner();
    const SlotMemory slot = runner.slot_memory();
    const auto slots = static_cast<std::uint64_t>(runner.slot_count());
    sum.slots += slots;
    sum.host += slots * slot.host;
    sum.pinned += slots * slot.pinned;
    sum.device += slots * slot.device;
  }
  return sum;
}

}  // namespace

Measurement measure(const Bench& bench, const Load& load) {
  check_record_memory(bench, load);
  Measurement result{.load = load};
  MeasuredCameras cameras;
  for (int number = 0; number < load.cameras; ++number)
    cameras.push_back(std::make_unique<MeasuredCamera>(bench, load, static_cast<std::size_t>(number)));
  Fleet fleet(fleet_of(bench, load), hooks_of(cameras));
  fleet.prepare();
  result.memory = memory_of(fleet);
  result.start_ns = now_ns() + kStartUp_ns;
  for (std::size_t i = 0; i < cameras.size(); ++i) cameras[i]->set_start(result.start_ns, fleet.camera(i));
  const UsedSoFar begin = watch(fleet, bench, load, result);
  result.resources = used_between(begin, used_so_far());
  for (std::size_t i = 0; i < cameras.size(); ++i) result.cameras.push_back(cameras[i]->take(fleet.take(i)));
  return result;
}

}  // namespace contorno::latency
