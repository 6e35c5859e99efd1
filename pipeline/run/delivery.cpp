#include "pipeline/run/delivery.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "pipeline/value/object_views.h"

namespace contorno {
namespace {

/// Writes the exception that is being handled into `outcome`, unless there is an earlier one. Never throws:
/// who would be told of it is the end of a thread.
void note_failure(SinkOutcome& outcome) noexcept {
  if (!outcome.error.empty()) return;
  try {
    throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::exception& exception) {
    const auto* error = dynamic_cast<const Error*>(&exception);
    try {
      outcome.error = exception.what();
      outcome.code = error != nullptr ? error->code() : ExitCode::Io;
      return;
    } catch (const std::bad_alloc&) {
    }
  } catch (...) {
    outcome.code = ExitCode::Internal, outcome.error = "it failed";
    return;
  }
  outcome.code = ExitCode::OutOfMemory, outcome.error = "out of memory";  // short: takes none
}

/// Shows a sink the objects in the frame that it is about to get.
void show_objects(const PlannedGraph& planned, ObjectViewer& viewer) {
  const std::vector<NodeSpec>& nodes = planned.graph().nodes;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (const ObjectsRule* const rule = planned.objects(node))
      viewer.view_objects(nodes[node].name, *rule,
                          std::get<ContoursView>(planned.value({static_cast<int>(node), 0})));
}

}  // namespace

Delivery::Line::Line(SinkBinding bound, const Settings& settings)
    : binding(std::move(bound)),
      queue(settings.shares.slots, binding.settings.on_full, settings.shares.a_dropping_sink,
            settings.waiting) {
  outcome.name = binding.name;
}

Delivery::Delivery(std::vector<SinkBinding> sinks, const Settings& settings, Owner owner)
    : trace_(settings.trace),
      owner_(std::move(owner)),
      handed_(static_cast<std::size_t>(settings.shares.slots)),
      working_(sinks.size()) {
  for (SinkBinding& sink : sinks) {
    lines_.push_back(std::make_unique<Line>(std::move(sink), settings));
    lines_.back()->track = kSinkTracks + static_cast<std::int32_t>(lines_.size()) - 1;
  }
}

Delivery::~Delivery() {
  close(Ending::Leave);
}

std::vector<Origin> Delivery::inputs() const {
  std::vector<Origin> inputs;
  for (const auto& line : lines_) inputs.push_back(line->binding.input);
  return inputs;
}

void Delivery::open(const std::function<SinkContext(const SinkBinding&)>& context_of) {
  for (const auto& line : lines_) {
    if (!line->outcome.error.empty()) continue;
    if (!line->thread.joinable())
      line->thread = start_thread("sink " + line->binding.name, [this, one = line.get()] { run(*one); });
    SinkContext context = context_of(line->binding);
    context.patience.sign = &line->sign;
    line->queue.call([&] {
      line->binding.sink->open(context);
      line->opened = true;
    });
  }
}

void Delivery::hand_over(int slot, const Frame& frame) {
  Handed& handed = handed_[static_cast<std::size_t>(slot)];
  handed.frame = frame;
  handed.handed_ns = now_ns();
  // One user more than sinks: this function, so that the slot is not released before all have been offered
  // it.
  handed.users = static_cast<int>(lines_.size()) + 1;
  for (const auto& line : lines_)
    if (const std::optional<int> gone = line->queue.offer(slot)) {
      ++line->dropped;
      release(*gone);
    }
  release(slot);
}

void Delivery::hand_over(FinishedObjects objects, std::uint64_t frame) {
  const auto shared = std::make_shared<const FinishedObjects>(std::move(objects));
  for (const auto& line : lines_) {
    const std::lock_guard lock(line->objects_mutex);
    if (!line->is_broken) line->objects.push_back({shared, frame});
  }
}

void Delivery::hand_over(MissingFrames missing) {
  const auto shared = std::make_shared<const MissingFrames>(std::move(missing));
  for (const auto& line : lines_) {
    {
      const std::lock_guard lock(line->objects_mutex);
      if (line->is_broken) continue;
      line->missing.push_back(shared);
    }
    // The sink need not wait for a frame to be told, which may never come. What is missing above a frame that
    // is handed over later has to wait for that frame.
    line->queue.nudge(shared->last + 1);
  }
}

void Delivery::WaitingNews::add(const CameraNews& news, std::uint64_t frame) {
  count_ = std::min(count_, all_.size() - 1);
  all_[count_++] = {news, frame};
}

std::optional<CameraNews> Delivery::WaitingNews::take(std::uint64_t frame) {
  if (count_ == 0 || all_.front().frame > frame) return std::nullopt;
  const CameraNews news = all_.front().news;
  std::move(all_.begin() + 1, all_.end(), all_.begin());
  --count_;
  return news;
}

void Delivery::tell(const CameraNews& news, std::uint64_t frame) {
  for (const auto& line : lines_) {
    {
      const std::lock_guard lock(line->objects_mutex);
      if (line->is_broken) continue;
      line->news.add(news, frame);
    }
    line->queue.nudge(1);
  }
}

void Delivery::release(int slot) {
  Handed& handed = handed_[static_cast<std::size_t>(slot)];
  if (handed.users.fetch_sub(1, std::memory_order_acq_rel) == 1) owner_.released(slot);
}

void Delivery::close(Ending ending) {
  for (const auto& line : lines_) {
    line->ending = ending;
    line->queue.close();
  }
  for (const auto& line : lines_)
    if (line->thread.joinable()) line->thread.join();
}

std::vector<SinkOutcome> Delivery::outcomes() const {
  std::vector<SinkOutcome> outcomes;
  for (const auto& line : lines_) {
    if (!line->opened) continue;
    outcomes.push_back(line->outcome);
    outcomes.back().dropped = line->dropped;
  }
  return outcomes;
}

void Delivery::add_signs(std::vector<ThreadSigns>& threads) const {
  for (const auto& line : lines_)
    threads.push_back({.role = ThreadRole::Writer,
                       .sink = line->binding.name,
                       .activity = line->sign.activity(),
                       .steps = line->sign.steps(),
                       .has_input = line->queue.has_queued()});
}

/// What the thread of a sink does.
void Delivery::run(Line& line) {
  line.sign.note(Activity::Idle);
  while (const std::optional<int> slot = line.queue.take()) {
    line.sign.note(Activity::AtWork);
    *slot == SinkQueue::kNudged ? write_nudged(line, line.queue.nudged()) : write(line, *slot);
    line.sign.note(Activity::Idle);
  }
  line.sign.note(Activity::AtWork);
  finish(line);
  line.sign.note(Activity::Gone);
}

void Delivery::finish(Line& line) {
  if (!line.opened || line.ending == Ending::Leave) return;
  try {
    if (line.outcome.error.empty()) write_before(line, kAtTheEnd);
  } catch (...) {
    note_failure(line.outcome);
  }
  try {
    line.binding.sink->finish();
  } catch (...) {
    note_failure(line.outcome);
  }
  try {
    line.outcome.summary = line.binding.sink->summary();
    line.outcome.totals = line.binding.sink->totals();
  } catch (...) {
    note_failure(line.outcome);
  }
}

/// Writes what comes before frame number `frame`.
void Delivery::write_before(Line& line, std::uint64_t frame) {
  write_missing(line, frame);
  write_news(line, frame);
  write_objects(line, frame);
}

void Delivery::write_missing(Line& line, std::uint64_t frame) {
  for (;;) {
    std::shared_ptr<const MissingFrames> missing;
    {
      const std::lock_guard lock(line.objects_mutex);
      if (line.missing.empty() || line.missing.front()->first >= frame) return;
      missing = std::move(line.missing.front());
      line.missing.pop_front();
    }
    line.binding.sink->write_missing(*missing);
  }
}

void Delivery::write_news(Line& line, std::uint64_t frame) {
  for (;;) {
    std::optional<CameraNews> news;
    {
      const std::lock_guard lock(line.objects_mutex);
      news = line.news.take(frame);
    }
    if (!news) return;
    line.binding.sink->write_camera(*news);
  }
}

/// While nothing is queued, what is missing below number `limit` is written, and all news.
void Delivery::write_nudged(Line& line, std::uint64_t limit) {
  if (!line.opened || !line.outcome.error.empty()) return;
  try {
    write_missing(line, limit);
    write_news(line, kAtTheEnd);
  } catch (...) {
    fail(line);
  }
}

/// Handles the exception that a sink throws, which gets nothing more.
void Delivery::fail(Line& line) {
  note_failure(line.outcome);
  if (working_.fetch_sub(1) == 1) owner_.all_broken();
  const std::lock_guard lock(line.objects_mutex);
  line.is_broken = true, line.objects.clear(), line.missing.clear();
}

/// Writes the records that come before frame number `frame`.
void Delivery::write_objects(Line& line, std::uint64_t frame) {
  for (;;) {
    std::shared_ptr<const FinishedObjects> objects;
    {
      const std::lock_guard lock(line.objects_mutex);
      if (line.objects.empty() || line.objects.front().frame > frame) return;
      objects = std::move(line.objects.front().objects);
      line.objects.pop_front();
    }
    line.binding.sink->write_objects(*objects);
  }
}

void Delivery::write(Line& line, int slot) {
  Handed& handed = handed_[static_cast<std::size_t>(slot)];
  const Frame& frame = handed.frame;
  SinkOutcome& outcome = line.outcome;
  if (!outcome.error.empty()) {
    ++outcome.missed;
    release(slot);
    return;
  }
  const std::int64_t start = now_ns();
  try {
    write_before(line, frame.info->number);
    line.binding.sink->note_timing({.arrived_ns = frame.arrived_ns,
                                    .finished_ns = frame.finished_ns,
                                    .late = frame.late,
                                    .level = frame.level});
    if (auto* const viewer = dynamic_cast<ObjectViewer*>(line.binding.sink))
      show_objects(*frame.graph, *viewer);
    line.binding.sink->write(*frame.info, frame.graph->value(line.binding.input));
    ++outcome.written;
  } catch (...) {
    ++outcome.missed;
    fail(line);
  }
  const std::int64_t end = now_ns();
  outcome.queued.record(start - handed.handed_ns);
  outcome.writing.record(end - start);
  outcome.end_to_end.record(end - frame.arrived_ns);
  if (trace_ != nullptr) trace_->add(line.binding.name, line.track, frame.info->number, start, end);
  release(slot);
}

}  // namespace contorno
