#include "pipeline/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>

#include "cuda/device.h"
#include "cuda/error.h"
#include "pipeline/clock.h"

namespace contorno {
namespace {

OnFull decided(OnFull policy, const StreamFormat& stream) {
  if (policy != OnFull::Auto) return policy;
  return stream.live ? OnFull::DropOldest : OnFull::Wait;
}

int decided_threads(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

Backend choose_backend(Backend wanted, const GraphSpec& graph) {
  if (wanted == Backend::Cpu) return Backend::Cpu;
  const DeviceReport& device = device_report();
  std::string reason = device.reason;
  if (device.available) {
    for (const NodeSpec& node : graph.nodes)
      if (!node.type->make_cuda)
        reason = fmt::format("the stage '{}' has no CUDA implementation", node.type->name);
    if (reason.empty()) return Backend::Cuda;
  }
  if (wanted == Backend::Auto) return Backend::Cpu;
  throw Error(ExitCode::Unavailable, fmt::format("backend cuda was asked for, but {}{}", reason,
                                                 device.fix.empty() ? "" : "; " + device.fix));
}

Runner::Runner(const GraphSpec& graph, Source& source, std::vector<SinkBinding> sinks,
               const RunOptions& options)
    : graph_(graph),
      source_(source),
      options_(options),
      policy_(decided(graph.settings.on_full, source.format())),
      threads_(decided_threads(graph.settings.threads)),
      capacities_(graph.nodes.size()),
      stream_(source.format()),
      ring_(graph.settings.slots, policy_, graph.settings.waiting) {
  // The ring needs one slot more than it was given where a policy drops and there would be only one.
  slots_.resize(static_cast<std::size_t>(policy_ == OnFull::Wait ? graph.settings.slots
                                                                 : std::max(graph.settings.slots, 2)));
  for (SinkBinding& sink : sinks) outputs_.push_back({.binding = std::move(sink)});
  counted_contours_.node = Origin::kSource;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    for (std::size_t port = 0; port < graph.nodes[node].type->outputs.size(); ++port)
      if (graph.nodes[node].type->outputs[port].type == PortType::Contours)
        counted_contours_ = {static_cast<int>(node), static_cast<int>(port)};
  report_.parts = {{.name = "queue"}, {.name = "upload"}};
  for (const NodeSpec& node : graph.nodes) report_.parts.push_back({.name = node.name});
  report_.parts.push_back({.name = "download"});
  for (const Output& output : outputs_) report_.parts.push_back({.name = output.binding.name});
  for (const ClassSpec& one : graph.classes) report_.classes.push_back({.name = one.name});
  plan_slots();
}

Runner::~Runner() = default;

void Runner::plan_slots() {
  std::vector<Origin> exports;
  for (const Output& output : outputs_) exports.push_back(output.binding.input);
  const PlanEnvironment environment{.graph = &graph_,
                                    .backend = options_.backend,
                                    .probes = options_.probes,
                                    .threads = threads_,
                                    .text = options_.text,
                                    .capacities = &capacities_,
                                    .exports = exports};
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (!slot.graph) slot.graph = std::make_unique<PlannedGraph>(environment);
    try {
      slot.graph->plan(stream_);
    } catch (const Error& error) {
      if (error.code() != ExitCode::OutOfMemory || index == 0) throw;
      throw Error(ExitCode::OutOfMemory,
                  fmt::format("{}; {} of {} slots of {} MiB each fitted: set 'slots: {}' in the pipeline "
                              "section",
                              error.what(), index, slots_.size(), slots_[0].graph->bytes() >> 20, index));
    }
  }
}

const Format& Runner::format(const Origin& origin) const {
  return slots_[0].graph->format(origin);
}

void Runner::open_sinks() {
  for (Output& output : outputs_) {
    output.binding.sink->open({.format = format(output.binding.input),
                               .stream = stream_,
                               .classes = graph_.classes,
                               .output_root = options_.output_root});
    output.opened = true;
  }
}

void Runner::finish_sinks() {
  for (Output& output : outputs_) {
    if (!output.opened) continue;
    try {
      output.binding.sink->finish();
    } catch (const std::exception& error) {
      if (output.outcome.error.empty()) output.outcome.error = error.what();
    }
    output.outcome.name = output.binding.name;
    output.outcome.summary = output.binding.sink->summary();
    report_.sinks.push_back(output.outcome);
  }
}

/// Runs one thread's loop; what it throws ends the run and is thrown again by run().
template <class Loop>
void Runner::guarded(const Loop& loop) {
  const auto fail = [&](ExitCode code) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception(), failure_code_ = code;
    }
    abort();
  };
  try {
    loop();
  } catch (const Error& error) {
    fail(error.code());
  } catch (...) {
    fail(ExitCode::Internal);
  }
}

RunReport Runner::run() {
  const std::int64_t start = now_ns();
  guarded([&] { open_sinks(); });
  if (!aborted_) {
    std::thread reader([&] { guarded([&] { read_loop(); }); });
    std::thread launcher([&] { guarded([&] { launch_loop(); }); });
    guarded([&] { finish_loop(); });
    reader.join();
    launcher.join();
  }
  finish_sinks();
  report_.frames = progress();
  // What was offered and is in no other count was under way when the run ended.
  FrameCounts& frames = report_.frames;
  const std::uint64_t under_way = frames.offered - frames.delivered - frames.failed - frames.dropped();
  (failure_code_ == ExitCode::Internal ? frames.failed : frames.dropped_aborted) += under_way;
  report_.wall_seconds = static_cast<double>(now_ns() - start) * 1e-9;
  report_.backend = options_.backend;
  report_.source = stream_.description;
  report_.slots = static_cast<int>(slots_.size());
  report_.threads = threads_;
  report_.on_full = policy_;
  report_.bytes_per_slot = slots_[0].graph->bytes();
  report_.interrupted = stop_requested_ || aborted_;
  if (failure_) std::rethrow_exception(failure_);
  return report_;
}

void Runner::request_stop() {
  stop_requested_ = true;
  source_.cancel();
}

void Runner::abort() {
  aborted_ = true;
  source_.cancel();
  ring_.stop();
}

FrameCounts Runner::progress() const {
  return {.offered = offered_,
          .delivered = delivered_,
          .failed = failed_,
          .dropped_ring_full = ring_full_,
          .dropped_deadline = deadline_,
          .late = late_,
          .regrown = regrown_};
}

void Runner::read_loop() {
  while (!stop_requested_ && (options_.max_frames == 0 || offered_ < options_.max_frames)) {
    Slot& slot = slots_[static_cast<std::size_t>(ring_.held())];
    FrameInput& input = slot.graph->input();
    const std::int64_t start = now_ns();
    const ReadResult result = source_.read(input);
    if (result == ReadResult::End) break;
    if (result == ReadResult::FormatChanged) {
      if (!reformat()) break;
      continue;
    }
    slot.arrived_ns = now_ns();
    slot.number = input.info.number = offered_++;
    slot.outcome = result == ReadResult::Bad ? Outcome::Failed : Outcome::Result;
    if (result == ReadResult::Bad) slot.error = input.error;
    if (options_.trace) options_.trace->add("read", kReaderTrack, slot.number, start, slot.arrived_ns);
    const SlotRing::Offer offer = ring_.offer();
    if (offer.dropped) ++ring_full_;
    if (!offer.open) break;
    // A slot taken from a dropped frame may still be at work on it.
    if (offer.dropped && !offer.dropped_held) slots_[static_cast<std::size_t>(ring_.held())].graph->wait();
  }
  ring_.close();
}

/// The source's format has changed: everything under way is delivered in the old one first.
bool Runner::reformat() {
  if (!ring_.drain()) return false;
  stream_ = source_.format();
  plan_slots();
  // The finisher is idle: nothing is under way.
  open_sinks();
  return true;
}

void Runner::launch_loop() {
  while (const std::optional<int> index = ring_.take_queued()) {
    Slot& slot = slots_[static_cast<std::size_t>(*index)];
    slot.launched_ns = now_ns();
    const double waited_ms = static_cast<double>(slot.launched_ns - slot.arrived_ns) * 1e-6;
    if (slot.outcome == Outcome::Result && graph_.settings.deadline_ms > 0 &&
        waited_ms > graph_.settings.deadline_ms)
      slot.outcome = Outcome::Deadline;
    if (slot.outcome == Outcome::Result) launch(slot);
    ring_.launched(*index);
  }
}

void Runner::launch(Slot& slot) {
  try {
    slot.graph->launch();
    // The CPU has done the work already; a device is waited for by the finisher, while the next frame is
    // launched.
    if (options_.backend == Backend::Cpu) complete(slot);
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadData) throw;
    slot.outcome = Outcome::Failed;
    slot.error = error.what();
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::OutOfMemory, "out of memory while processing a frame");
  }
}

/// Waits for a launched frame, and launches it again as long as a capacity is too small.
void Runner::complete(Slot& slot) {
  slot.graph->wait();
  while (slot.graph->overflowed()) {
    ++regrown_;
    slot.graph->launch();
    slot.graph->wait();
  }
  slot.finished_ns = now_ns();
}

void Runner::finish_loop() {
  while (const std::optional<int> index = ring_.take_launched()) {
    Slot& slot = slots_[static_cast<std::size_t>(*index)];
    if (slot.outcome == Outcome::Result && options_.backend == Backend::Cuda) complete(slot);
    switch (slot.outcome) {
      case Outcome::Result:
        deliver(slot);
        break;
      case Outcome::Failed:
        put_aside(slot);
        break;
      case Outcome::Deadline:
        ++deadline_;
        break;
    }
    ring_.release(*index);
  }
}

void Runner::deliver(Slot& slot) {
  record_times(slot);
  count_contours(slot);
  std::size_t part = 3 + graph_.nodes.size();
  bool any_open = outputs_.empty();
  for (Output& output : outputs_) {
    const std::int64_t start = now_ns();
    if (output.outcome.error.empty()) {
      try {
        output.binding.sink->write(slot.graph->input().info, slot.graph->value(output.binding.input));
        any_open = true;
      } catch (const std::exception& error) {
        output.outcome.error = error.what();
      }
    }
    const std::int64_t end = now_ns();
    report_.parts[part++].histogram.record(end - start);
    if (options_.trace) options_.trace->add(output.binding.name, kFinisherTrack, slot.number, start, end);
  }
  ++delivered_;
  // Without any sink left to write to there is no point in going on.
  if (!any_open) request_stop();
}

void Runner::put_aside(const Slot& slot) {
  ++failed_;
  const FrameFailure failure{.frame = slot.number, .reason = slot.error};
  if (report_.failures.size() < RunReport::kMaxFailures) report_.failures.push_back(failure);
  if (options_.on_failure) options_.on_failure(failure);
}

void Runner::record_times(Slot& slot) {
  const std::int64_t latency = slot.finished_ns - slot.arrived_ns;
  report_.end_to_end.record(latency);
  last_latency_us_ = static_cast<double>(latency) * 1e-3;
  if (graph_.settings.deadline_ms > 0 && static_cast<double>(latency) * 1e-6 > graph_.settings.deadline_ms)
    ++late_;
  report_.parts[0].histogram.record(slot.launched_ns - slot.arrived_ns);
  if (options_.probes == Probes::Off) return;
  const PartTimes& times = slot.graph->times();
  const std::int32_t track = options_.backend == Backend::Cuda
                                 ? kSlotTracks + static_cast<std::int32_t>(&slot - slots_.data())
                                 : static_cast<std::int32_t>(kLauncherTrack);
  std::size_t part = 1;
  const auto note = [&](std::int64_t from, std::int64_t to) {
    if (options_.trace && to > from)
      options_.trace->add(report_.parts[part].name, track, slot.number, from, to);
    report_.parts[part++].histogram.record(to - from);
  };
  note(times.start_ns, times.uploaded_ns);
  std::int64_t before = times.uploaded_ns;
  for (const std::int64_t done : times.node_ns) {
    note(before, done);
    before = done;
  }
  note(before, times.downloaded_ns);
  if (options_.on_times)
    options_.on_times({.frame = slot.number,
                       .queued_ns = slot.launched_ns - slot.arrived_ns,
                       .latency_ns = latency,
                       .parts = times});
}

void Runner::count_contours(const Slot& slot) {
  if (counted_contours_.node == Origin::kSource) return;
  const auto& contours = std::get<ContoursView>(slot.graph->value(counted_contours_));
  for (std::size_t one = 0; one < report_.classes.size(); ++one) {
    const std::uint32_t first = contours.class_begin[one];
    const std::uint32_t last = contours.class_begin[one + 1];
    report_.classes[one].contours += last - first;
    report_.classes[one].points += contours.offsets[last] - contours.offsets[first];
  }
}

}  // namespace contorno
