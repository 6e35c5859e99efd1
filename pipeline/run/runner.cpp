#include "pipeline/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>

#include "base/error.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "pipeline/shared/threads.h"

// Building, starting and stopping; runner_threads.cpp has what the threads do, runner_quality.cpp the levels.
namespace contorno {
namespace {

OnFull decided(OnFull policy, const StreamFormat& stream) {
  if (policy != OnFull::Auto) return policy;
  return stream.live ? OnFull::DropOldest : OnFull::Wait;
}

/// The reader, the launcher, and one who watches over the run; the sinks come on top.
constexpr int kThreadsBeside = 3;

std::chrono::nanoseconds sink_timeout_of(const PipelineSettings& settings) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(settings.sink_timeout_ms * 1e6));
}

int threads_of_loops(int wanted, std::size_t sinks) {
  const int beside = kThreadsBeside + static_cast<int>(sinks);
  return std::max(1, usable_threads(decided_threads(wanted) + beside) - beside);
}

/// Where frames come at their own pace, each is to be done as soon as it can be.
bool may_adapt(Backend backend, int threads, const StreamFormat& stream) {
  return backend == Backend::Cpu && threads == 0 && !stream.live && stream.frame_count >= 0;
}

/// What is read of a result beside its stages; `inputs` are those of the sinks.
std::vector<Origin> exports_of(const GraphSpec& graph, std::vector<Origin> inputs,
                               const RunOptions& options) {
  inputs.insert(inputs.end(), options.also_read.begin(), options.also_read.end());
  // What objects are is known to stages alone, which are the same in every slot.
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    if (graph.nodes[node].type->makes_objects) inputs.push_back({static_cast<int>(node), 0});
  return inputs;
}

/// Before any frame has come.
std::int64_t declared_interval(const StreamFormat& stream) {
  if (stream.rate_numerator <= 0) return 0;
  return std::int64_t{1'000'000'000} * stream.rate_denominator / stream.rate_numerator;
}

SlotShares shares_of(int slots, OnFull policy, const std::vector<SinkBinding>& sinks) {
  const auto dropping = std::count_if(sinks.begin(), sinks.end(), [](const SinkBinding& sink) {
    return sink.settings.on_full != OnFull::Wait;
  });
  return share_slots(slots, policy, static_cast<int>(sinks.size()), static_cast<int>(dropping));
}

}  // namespace

Runner::Runner(const GraphSpec& graph, Source& source, std::vector<SinkBinding> sinks,
               const RunOptions& options)
    : graph_(graph),
      source_(source),
      options_(options),
      policy_(decided(graph.settings.on_full, source.format())),
      threads_(threads_of_loops(graph.settings.threads, sinks.size())),
      stream_(source.format()),
      shares_(shares_of(graph.settings.slots, policy_, sinks)),
      slots_(static_cast<std::size_t>(shares_.slots)),
      ring_(shares_.slots, policy_, graph.settings.waiting, shares_.with_sinks),
      team_(threads_, may_adapt(options.backend.backend, graph.settings.threads, source.format())),
      delivery_(std::move(sinks),
                {.shares = shares_, .waiting = graph.settings.waiting, .trace = options.trace},
                {.released =
                     [this](int slot) {
                       ++delivered_;
                       ring_.release(slot);
                     },
                 // Without any sink left to write to there is no point in going on.
                 .all_broken = [this] { request_stop(); }}) {
  counted_contours_ = counted_contours(graph);
  report_.parts = {{.name = "queue"}, {.name = "upload"}};
  for (std::string& name : part_names(graph)) report_.parts.push_back({.name = std::move(name)});
  report_.parts.push_back({.name = "download"});
  for (const ClassSpec& one : graph.classes) report_.classes.push_back({.name = one.name});
  for (std::size_t i = 0; i < graphs(); ++i) capacities_.emplace_back(graph.nodes.size());
  if (options.quality) {
    degrader_.emplace(static_cast<int>(options.quality->levels.size()) + 1);
    report_.levels.push_back({.name = "full"});
    for (const QualityLevels::Level& level : options.quality->levels)
      report_.levels.push_back({.name = std::string(name_of(level.step))});
  }
  interval_ns_ = declared_interval(stream_);
  with_device(options_.backend, [this] { plan_slots(); });
  plan_ledgers();
}

Runner::~Runner() {
  delivery_.close(Delivery::Ending::Leave);
  try {
    with_device(options_.backend, [this] { slots_.clear(); });
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a device that broke has nothing left to free
  }
}

std::vector<Origin> Runner::exports() const {
  return exports_of(graph_, delivery_.inputs(), options_);
}

void Runner::plan_ledgers() {
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node)
    if (const ObjectsRule* const rule = slots_[0].graph->objects(node))
      ledgers_.push_back({node, ObjectLedger(*rule)});
}

/// The graph at full quality first, whose input the others share.
void Runner::plan_slot(Slot& slot) {
  for (std::size_t place = slot.graphs.size(); place < graphs(); ++place)
    slot.graphs.push_back(
        std::make_unique<PlannedGraph>(PlanEnvironment{.graph = &graph_at(place),
                                                       .backend = options_.backend.backend,
                                                       .probe_every = options_.probe_every,
                                                       .threads = threads_,
                                                       .text = options_.text,
                                                       .capacities = &capacities_[place],
                                                       .exports = exports(),
                                                       .counted = counted_contours_,
                                                       .frames_on_device = options_.frames_on_device,
                                                       .maps_on_device = options_.maps_on_device}));
  slot.graph = slot.graphs[0].get();
  slot.graph->plan(stream_);
  for (std::size_t place = 1; place < graphs(); ++place)
    slot.graphs[place]->plan_beside(*slot.graph, stream_);
}

void Runner::plan_slots() {
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    try {
      plan_slot(slot);
    } catch (const Error& error) {
      if (error.code() != ExitCode::OutOfMemory || index == 0) throw;
      throw Error(ExitCode::OutOfMemory,
                  fmt::format("{}; {} of {} slots of {} MiB each fitted: set 'slots: {}' in the pipeline "
                              "section",
                              error.what(), index, slots_.size(), slot_memory().total() >> 20, index));
    }
  }
  has_states_ = !slots_[0].graph->states().empty();
  under_way_.reserve(slots_.size());
}

SlotMemory Runner::slot_memory() const {
  SlotMemory sum;
  for (const auto& graph : slots_[0].graphs) sum += graph->memory();
  return sum;
}

const Format& Runner::format(const Origin& origin) const {
  return slots_[0].graph->format(origin);
}

void Runner::open_sinks() {
  const std::string of_camera =
      options_.camera.empty() ? "" : fmt::format(" of camera '{}'", options_.camera);
  delivery_.open([&](const SinkBinding& sink) {
    return SinkContext{.format = format(sink.input),
                       .stream = stream_,
                       .classes = graph_.classes,
                       .output_root = options_.output_root,
                       .owner = fmt::format("the sink '{}'{}", sink.name, of_camera),
                       .outputs = options_.outputs,
                       .patience = {.limit = sink_timeout_of(graph_.settings), .stopping = &stop_requested_},
                       .camera = options_.camera,
                       .fallback = options_.fell_back ? options_.backend.reason : "",
                       .graph = &graph_};
  });
}

/// Ends the run with what run() throws; the first one counts.
void Runner::fail(const std::exception_ptr& failure, ExitCode code) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = failure, failure_code_ = code;
  }
  abort();
}

void Runner::break_off(const Error& why) {
  fail(std::make_exception_ptr(why), why.code());
}

/// Runs one thread's loop; what it throws ends the run and is thrown again by run().
template <class Loop>
void Runner::guarded(const Loop& loop) {
  try {
    loop();
  } catch (const Error& error) {
    fail(std::current_exception(), error.code());
  } catch (...) {
    fail(std::current_exception(), ExitCode::Internal);
  }
}

RunReport Runner::run() {
  start_ns_ = now_ns();
  guarded([&] { open_sinks(); });
  // Nothing is written: what finish() would complete is empty, and may replace the work of an earlier run.
  const auto ending = aborted_ ? Delivery::Ending::Leave : Delivery::Ending::Finish;
  if (ending == Delivery::Ending::Finish) {
    // A thread that cannot be started ends the others by way of `guarded`.
    std::thread reader, launcher;
    guarded([&] {
      reader = start_thread(thread_name("reader", options_.camera), [&] {
        guarded([&] {
          bind_thread(options_.backend);
          read_loop();
        });
        reader_sign_.note(Activity::Gone);
      });
      launcher = start_thread(thread_name("launcher", options_.camera), [&] {
        guarded([&] {
          bind_thread(options_.backend);
          launch_loop();
        });
        launcher_sign_.note(Activity::Gone);
      });
      with_device(options_.backend, [this] { finish_loop(); });
    });
    finisher_sign_.note(Activity::Gone);
    if (reader.joinable()) reader.join();
    if (launcher.joinable()) launcher.join();
  }
  if (options_.gate != nullptr) options_.gate->close(options_.gate_member);
  close_accounts(ending);
  if (failure_) std::rethrow_exception(failure_);
  return report_;
}

void Runner::close_accounts(Delivery::Ending ending) {
  close_ledgers();
  account_for_rest();
  delivery_.close(ending);
  if (ending == Delivery::Ending::Finish) report_.sinks = delivery_.outcomes();
  FrameCounts& frames = report_.frames = progress();
  // Last, since the reader may still be at work where the device was given up.
  frames.offered = offered_;
  // What was offered and is in no other count was under way when the run ended.
  const std::uint64_t under_way = frames.offered - frames.delivered - frames.failed - frames.dropped();
  {
    const std::lock_guard lock(failure_mutex_);
    (failure_code_ == ExitCode::Internal ? frames.failed : frames.dropped_aborted) += under_way;
    report_.source_faults = source_faults_;
    report_.source_reconnections = source_reconnections_;
    report_.source = stream_.description;
  }
  report_.wall_seconds = static_cast<double>(now_ns() - start_ns_) * 1e-9;
  report_.live = stream_.live;
  if (stream_.rate_numerator > 0)
    report_.source_rate = static_cast<double>(stream_.rate_numerator) / stream_.rate_denominator;
  const std::int64_t arriving_ns = last_arrival_ns_ - first_arrival_ns_;
  if (frames.offered > 1 && arriving_ns > 0)
    report_.input_rate = static_cast<double>(frames.offered - 1) * 1e9 / static_cast<double>(arriving_ns);
  report_.deadline_ms = graph_.settings.deadline_ms;
  report_.backend = options_.backend.backend;
  report_.backend_reason = options_.backend.reason;
  report_.fell_back = options_.fell_back;
  report_.device = options_.backend.device;
  report_.slots = static_cast<int>(slots_.size());
  report_.threads = threads_;
  report_.on_full = policy_;
  report_.bytes_per_slot = slot_memory().total();
  report_.interrupted = stop_requested_ || aborted_;
}

bool Runner::give_up_on_device(std::chrono::nanoseconds limit) {
  std::int64_t since = device_since_ns_;
  if (since == kNotWaiting || since == kGivenUp || now_ns() - since <= limit.count()) return false;
  // From here on the finisher touches nothing, should the device come back.
  if (!device_since_ns_.compare_exchange_strong(since, kGivenUp)) return false;
  abort();
  {
    const std::lock_guard lock(failure_mutex_);
    failure_code_ = ExitCode::Internal;
  }
  close_accounts(Delivery::Ending::Finish);
  return true;
}

void Runner::request_stop() {
  stop_requested_ = true;
  source_.cancel();
}

void Runner::abort() {
  aborted_ = stop_requested_ = true;
  source_.cancel();
  ring_.stop();
  if (options_.gate != nullptr) options_.gate->close(options_.gate_member);
}

std::int64_t Runner::lag_ns(std::int64_t now) const {
  std::int64_t lag = 0;
  for (const Slot& slot : slots_)
    if (const std::int64_t since = slot.owed_since_ns; since != 0) lag = std::max(lag, now - since);
  return lag;
}

ReaderSigns Runner::reader_signs() const {
  return {.frames = offered_,
          .first_arrival_ns = first_arrival_ns_,
          .last_arrival_ns = last_arrival_ns_,
          .offering_since_ns = offering_since_ns_};
}

Runner::Memory Runner::foretell_memory(const GraphSpec& graph, const StreamFormat& stream,
                                       const std::vector<SinkBinding>& sinks, const RunOptions& options) {
  Capacities capacities(graph.nodes.size());
  std::vector<Origin> inputs;
  for (const SinkBinding& sink : sinks) inputs.push_back(sink.input);
  const PlanEnvironment environment{.graph = &graph,
                                    .backend = options.backend.backend,
                                    .probe_every = options.probe_every,
                                    .threads = threads_of_loops(graph.settings.threads, sinks.size()),
                                    .text = options.text,
                                    .capacities = &capacities,
                                    .exports = exports_of(graph, std::move(inputs), options),
                                    .counted = counted_contours(graph),
                                    .frames_on_device = options.frames_on_device,
                                    .maps_on_device = options.maps_on_device};
  SlotMemory slot;
  with_device(options.backend, [&] {
    PlannedGraph planned(environment);
    planned.plan_formats(stream);
    slot = planned.memory();
    if (options.quality) slot += foretell_lower(*options.quality, environment, planned, stream);
  });
  return {.slots = shares_of(graph.settings.slots, decided(graph.settings.on_full, stream), sinks).slots,
          .slot = slot};
}

SlotMemory Runner::foretell_lower(const QualityLevels& quality, PlanEnvironment environment,
                                  const PlannedGraph& planned, const StreamFormat& stream) {
  SlotMemory sum;
  for (const GraphSpec& graph : quality.graphs) {
    environment.graph = &graph;
    PlannedGraph lower(environment);
    lower.plan_formats_beside(planned, stream);
    sum += lower.memory();
  }
  return sum;
}

std::vector<ThreadSigns> Runner::thread_signs() const {
  const auto signs_of = [](ThreadRole role, const WorkSign& sign, bool has_input) {
    return ThreadSigns{
        .role = role, .activity = sign.activity(), .steps = sign.steps(), .has_input = has_input};
  };
  std::vector<ThreadSigns> threads{signs_of(ThreadRole::Reader, reader_sign_, false),
                                   signs_of(ThreadRole::Launcher, launcher_sign_, ring_.has_queued()),
                                   signs_of(ThreadRole::Finisher, finisher_sign_, ring_.has_launched())};
  delivery_.add_signs(threads);
  return threads;
}

FrameCounts Runner::progress() const {
  return {.offered = offered_,
          .delivered = delivered_,
          .failed = failed_,
          .dropped_ring_full = ring_full_,
          .dropped_deadline = deadline_,
          .dropped_thinned = thinned_,
          .late = late_,
          .regrown = regrown_};
}

}  // namespace contorno
