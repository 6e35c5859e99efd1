// What three threads of a runner do: the reader, the launcher and the finisher with its accounts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "pipeline/run/runner.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/loops.h"
#include "pipeline/value/sides.h"

namespace contorno {

namespace {

/// The processor time that this thread has used, in ns.
std::int64_t processor_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void Runner::read_loop() {
  read_frames();
  std::vector<SourceFault> faults = source_.faults();
  {
    const std::lock_guard lock(failure_mutex_);
    source_faults_.insert(source_faults_.end(), faults.begin(), faults.end());
    source_reconnections_ = source_.reconnections();
    stream_.description = source_.format().description;  // what became of a live stream may stand in it
  }
  ring_.close();
}

void Runner::read_frames() {
  // Frames that were worked on, and which nobody gets.
  const std::function<void(int)> note_hidden = [this](int index) {
    const Slot& dropped = slots_[static_cast<std::size_t>(index)];
    if (dropped.launched) hidden_frame_ = dropped.number;
  };
  while (!stop_requested_ && (options_.max_frames == 0 || offered_ < options_.max_frames)) {
    Slot& slot = slots_[static_cast<std::size_t>(ring_.held())];
    FrameInput& input = refusing_ ? refusal_->input : slot.graph->input();
    const std::int64_t start = now_ns();
    input.warning.clear();
    // A camera, a pipe and a source that holds back have their own time; a file that does not come is at
    // fault.
    const bool waits = options_.paced_by_source || stream_.live || stream_.frame_count < 0;
    reader_sign_.note(waits ? Activity::Waiting : Activity::AtWork);
    const ReadResult result = source_.read(input);
    // What follows waits for slots alone.
    reader_sign_.note(Activity::Waiting);
    if (result == ReadResult::End) break;
    if (result == ReadResult::FormatChanged) {
      if (!reformat()) break;
      continue;
    }
    note_arrival(slot);
    slot.number = input.info.number = offered_++;
    slot.outcome = result == ReadResult::Bad || refusing_ ? Outcome::Failed : Outcome::Result;
    if (result == ReadResult::Bad)
      slot.error = input.error;
    else if (refusing_)
      slot.error = input.info.name.empty() ? refusal_->reason
                                           : fmt::format("'{}': {}", input.info.name, refusal_->reason);
    if (options_.trace) options_.trace->add("read", kReaderTrack, slot.number, start, slot.arrived_ns);
    const bool gives_up = too_many_bad(result, input.error);
    offering_since_ns_.store(slot.arrived_ns, std::memory_order_relaxed);
    const SlotRing::Offer offer = ring_.offer(note_hidden);
    offering_since_ns_.store(0, std::memory_order_relaxed);
    if (offer.dropped) {
      ++ring_full_;
      // The reader now holds the slot of the frame that was dropped, be it the oldest or the one just
      // offered.
      slots_[static_cast<std::size_t>(ring_.held())].owed_since_ns = 0;
      if (options_.on_drop)
        options_.on_drop(slots_[static_cast<std::size_t>(ring_.held())].number, DropReason::RingFull);
    }
    if (!offer.open) break;
    if (offer.dropped && !offer.dropped_held) drop(slots_[static_cast<std::size_t>(ring_.held())]);
    if (gives_up) break;
  }
}

void Runner::note_arrival(Slot& slot) {
  slot.arrived_ns = slot.owed_since_ns = now_ns();
  slot.launched = false;
  slot.level = 0;
  const std::int64_t since = slot.arrived_ns - last_arrival_ns_, known = interval_ns_;
  if (offered_ == 0)
    first_arrival_ns_ = slot.arrived_ns;
  else if (known == 0)
    interval_ns_ = since;
  else  // a camera that was away says nothing of its rate
    interval_ns_ = known + (std::min(since, 4 * known) - known) / 32;
  last_arrival_ns_ = slot.arrived_ns;
}

/// A source that gives nothing but failures, a folder that vanished while it is played for ever for example,
/// would go on so without end.
bool Runner::too_many_bad(ReadResult result, const std::string& error) {
  bad_in_a_row_ = result == ReadResult::Bad ? bad_in_a_row_ + 1 : 0;
  if (bad_in_a_row_ < kMostBadInARow || stream_.frame_count >= 0) return false;
  const std::lock_guard lock(failure_mutex_);
  source_faults_.push_back({.sentence = fmt::format("the run ended early: the source's last {} frames failed "
                                                    "one after the other, the last with: {}",
                                                    kMostBadInARow, error),
                            .missing = -1});
  return true;
}

/// The source's format has changed: everything under way is delivered in the old one first. A format that
/// the graph cannot take makes its frames fail, and nothing else.
bool Runner::reformat() {
  const StreamFormat next = source_.format();
  refusing_ = refusal_ && next == refusal_->format;
  if (refusing_ || next == stream_) return true;
  // A frame that fails is read all the same, into memory that has its sizes: these end the run.
  for (const auto& image : {next.frame, next.maps})
    if (image) check_sides(*image, fmt::format("the source ({})", next.description));
  if (!ring_.drain()) return false;
  const StreamFormat before = std::exchange(stream_, next);
  try {
    plan_slots();
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadConfig) throw;
    refuse_format(next, error.what());
    stream_ = before;
    plan_slots();
    return true;
  }
  // The finisher and the sinks are idle: nothing is under way.
  open_sinks();
  return true;
}

void Runner::refuse_format(const StreamFormat& format, std::string reason) {
  const ImageFormat frame = format.frame.value_or(ImageFormat{}), maps = format.maps.value_or(ImageFormat{});
  const std::size_t frame_bytes = align_up(packed_bytes(frame));
  refusal_ = std::make_unique<Refusal>();
  refusal_->format = format;
  refusal_->reason = std::move(reason);
  refusal_->memory = Block(frame_bytes + packed_bytes(maps), MemoryKind::Host);
  if (format.frame) refusal_->input.frame = packed_view(refusal_->memory.data(), frame);
  if (format.maps) refusal_->input.maps = packed_view(refusal_->memory.data() + frame_bytes, maps);
  refusing_ = true;
}

/// The slot of the next frame, taken when it may be worked on: a frame that waits for a permit stays in the
/// ring, where a newer one may take its place.
std::optional<int> Runner::next_to_launch() {
  if (options_.gate == nullptr) return ring_.take_queued();
  if (!ring_.wait_queued()) return std::nullopt;
  launcher_sign_.note(Activity::AtGate);
  if (!options_.gate->enter(options_.gate_member)) return std::nullopt;
  const std::optional<int> index = ring_.take_queued();
  if (index) slots_[static_cast<std::size_t>(*index)].has_permit = true;
  return index;
}

void Runner::give_back_permit(Slot& slot, bool has_next) {
  if (std::exchange(slot.has_permit, false)) options_.gate->leave(options_.gate_member, has_next);
}

void Runner::launch_loop() {
  launcher_sign_.note(Activity::Idle);
  while (const std::optional<int> index = next_to_launch()) {
    launcher_sign_.note(Activity::AtWork);
    Slot& slot = slots_[static_cast<std::size_t>(*index)];
    slot.launched_ns = now_ns();
    const double waited_ms = static_cast<double>(slot.launched_ns - slot.arrived_ns) * 1e-6;
    if (slot.outcome == Outcome::Result && graph_.settings.deadline_ms > 0 &&
        waited_ms > graph_.settings.deadline_ms)
      slot.outcome = Outcome::Deadline;
    if (slot.outcome == Outcome::Result && degrader_) choose_level(slot);
    if (slot.outcome == Outcome::Result) {
      most_loop_threads = team_.threads();
      launch(slot);
      if (team_.adapts()) team_.launched(processor_ns(), now_ns());
    }
    if (slot.has_permit) {
      // A device goes on with the frame; the CPU is done with it.
      if (slot.outcome != Outcome::Result || options_.backend.backend == Backend::Cpu)
        give_back_permit(slot, ring_.has_queued());
      else if (ring_.has_queued())
        options_.gate->line_up(options_.gate_member);
    }
    ring_.launched(*index);
    launcher_sign_.note(Activity::Idle);
  }
}

/// Works on a frame. One that cannot be processed has failed, and the stream goes on.
template <class Work>
void Runner::attempt(Slot& slot, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadData) throw;
    slot.outcome = Outcome::Failed;
    slot.error = error.what();
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::OutOfMemory, "out of memory while processing a frame");
  }
}

void Runner::launch(Slot& slot) {
  const bool on_cpu = options_.backend.backend == Backend::Cpu;
  const auto start = [&] {
    slot.graph->launch();
    // The CPU has done the work already; a device is waited for by the finisher, while the next frame is
    // launched.
    if (on_cpu) complete(slot);
  };
  if (!has_states_) return attempt(slot, start);
  const std::lock_guard lock(order_mutex_);
  CarriedState& states = slot.graph->states();
  states.begin_with(left_);
  attempt(slot, start);
  // The state of a frame that failed is passed over.
  const bool launched = slot.launched = slot.outcome == Outcome::Result;
  left_ = launched ? states.left() : states.next();
  if (launched && !on_cpu) under_way_.push_back(&slot);
}

/// Waits for a launched frame, and launches it again as long as a capacity is too small.
void Runner::complete(Slot& slot) {
  wait_for_device(slot);
  while (slot.graph->overflowed()) {
    ++regrown_;
    slot.graph->launch();
    wait_for_device(slot);
  }
  slot.finished_ns = now_ns();
}

/// What complete() does, for a graph whose stages know of the frames before.
void Runner::complete_in_order(Slot& slot) {
  {
    // The launcher goes on meanwhile, but the reader may not launch this frame again: a stream that is being
    // captured cannot be waited for.
    const std::lock_guard waiting(relaunch_mutex_);
    wait_for_device(slot);
  }
  const std::lock_guard lock(order_mutex_);
  // Frames before it that were dropped, and whose slots the reader is about to take.
  while (!under_way_.empty() && under_way_.front() != &slot) pass_over(*under_way_.front());
  wait_for_device(slot);
  if (leave_order(slot)) {
    slot.finished_ns = now_ns();
    return;
  }
  // Nobody reads what a frame leaves while it is written anew.
  for (std::size_t i = behind_; i < under_way_.size(); ++i) wait_for_device(*under_way_[i]);
  if (slot.outcome == Outcome::Result) attempt(slot, [&] { complete(slot); });
  launch_behind(slot);
}

/// Takes a frame that is complete out of those under way. False: it leaves nothing that those behind it can
/// begin with, because it has failed or must be launched again.
bool Runner::leave_order(Slot& slot) {
  const auto place = std::find(under_way_.begin(), under_way_.end(), &slot);
  if (place == under_way_.end()) return true;
  behind_ = static_cast<std::size_t>(under_way_.erase(place) - under_way_.begin());
  bool fits = false;
  attempt(slot, [&] { fits = !slot.graph->overflowed(); });
  return fits;
}

/// Launches the frames again that were launched behind one which did not leave what they began with.
void Runner::launch_behind(const Slot& slot) {
  const std::lock_guard lock(relaunch_mutex_);
  left_ = slot.graph->states().next();
  for (std::size_t i = behind_; i < under_way_.size();) {
    Slot& next = *under_way_[i];
    CarriedState& states = next.graph->states();
    states.begin_with(left_);
    attempt(next, [&] { next.graph->launch(); });
    const bool launched = next.outcome == Outcome::Result;
    left_ = launched ? states.left() : states.next();
    if (launched)
      ++i;
    else
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// The reader takes the slot of a frame that was dropped, and may still be at work. What it knows is known to
/// the frames behind it if it was launched.
void Runner::drop(Slot& slot) {
  if (!has_states_ || options_.backend.backend == Backend::Cpu) {
    slot.graph->wait();
  } else {
    const std::lock_guard lock(order_mutex_);
    pass_over(slot);
  }
  give_back_permit(slot, false);
}

/// Takes a frame that was dropped out of those under way, if it is there.
void Runner::pass_over(Slot& slot) {
  slot.graph->wait();
  if (leave_order(slot)) return;
  for (std::size_t i = behind_; i < under_way_.size(); ++i) under_way_[i]->graph->wait();
  launch_behind(slot);
}

/// Says meanwhile since when it waits. Never returns, nor throws, once the device was given up.
void Runner::wait_for_device(Slot& slot) {
  struct Waiter {
    std::atomic<std::int64_t>& since_ns;
    std::int64_t start_ns;
    ~Waiter() {
      if (since_ns.compare_exchange_strong(start_ns, kNotWaiting)) return;
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  };
  const std::int64_t start = now_ns();
  device_since_ns_ = start;
  const Waiter waiter{device_since_ns_, start};
  slot.graph->wait();
}

void Runner::finish_loop() {
  finisher_sign_.note(Activity::Idle);
  while (const std::optional<int> index = ring_.take_launched()) {
    finisher_sign_.note(Activity::AtWork);
    finish(slots_[static_cast<std::size_t>(*index)]);
    finisher_sign_.note(Activity::Idle);
  }
}

/// Hands a frame on, or gives its slot back.
void Runner::finish(Slot& slot) {
  const std::int64_t start = now_ns();
  if (slot.outcome == Outcome::Result && options_.backend.backend == Backend::Cuda) {
    if (has_states_)
      complete_in_order(slot);
    else
      attempt(slot, [&] { complete(slot); });
  }
  slot.owed_since_ns = 0;
  give_back_permit(slot, false);
  if (options_.trace) options_.trace->add("finish", kFinisherTrack, slot.number, start, now_ns());
  const std::uint64_t next = slot.number + 1;
  const std::optional<CameraNews> news = degrader_ ? judge_load(slot) : std::nullopt;
  hand_on(slot);
  if (news) delivery_.tell(*news, next);
}

/// By what became of its frame.
void Runner::hand_on(Slot& slot) {
  switch (slot.outcome) {
    case Outcome::Result:
      return deliver(slot);
    case Outcome::Failed:
      account(slot, MissingFrames::Reason::Failed);
      note_failed_frame(slot);
      break;
    case Outcome::Deadline:
      account(slot, MissingFrames::Reason::Deadline);
      ++deadline_;
      if (options_.on_drop) options_.on_drop(slot.number, DropReason::Deadline);
      break;
    case Outcome::Thinned:
      account(slot, MissingFrames::Reason::Thinned);
      ++thinned_;
      if (options_.on_drop) options_.on_drop(slot.number, DropReason::Thinned);
      break;
  }
  ring_.release(static_cast<int>(&slot - slots_.data()));
}

/// Hands a result on, which is released when all sinks are done with it.
void Runner::deliver(Slot& slot) {
  const FrameInput& input = slot.graph->input();
  if (options_.on_warning && !input.warning.empty()) options_.on_warning(slot.number, input.warning);
  record_times(slot);
  count_contours(slot);
  if (options_.on_result) options_.on_result(*slot.graph, report_.classes);
  if (has_states_) count_tracks(slot);
  if (!report_.levels.empty()) ++report_.levels[static_cast<std::size_t>(slot.level)].frames;
  add_to_ledgers(slot);
  account_up_to(slot.number, MissingFrames::Reason::RingFull);
  hand_missing_over();
  next_number_ = slot.number + 1;
  delivery_.hand_over(static_cast<int>(&slot - slots_.data()),
                      {.graph = slot.graph,
                       .info = &input.info,
                       .arrived_ns = slot.arrived_ns,
                       .finished_ns = slot.finished_ns,
                       .late = is_late(slot.finished_ns - slot.arrived_ns),
                       .level = slot.level});
}

bool Runner::is_late(std::int64_t latency_ns) const {
  return graph_.settings.deadline_ms > 0 &&
         static_cast<double>(latency_ns) * 1e-6 > graph_.settings.deadline_ms;
}

/// Accounts for a frame that the finisher has, and that no sink gets.
void Runner::account(const Slot& slot, MissingFrames::Reason reason) {
  // Frames come here in order: what did not come before it was dropped by the reader.
  account_up_to(slot.number, MissingFrames::Reason::RingFull);
  account_up_to(slot.number + 1, reason, slot.error);
  // Sinks are told at once of what failed: it may be all that comes.
  if (reason == MissingFrames::Reason::Failed) hand_missing_over();
}

/// Accounts for all numbers below `number` that nothing was said of.
void Runner::account_up_to(std::uint64_t number, MissingFrames::Reason reason, const std::string& error) {
  if (number <= next_number_) return;
  const bool failed = reason == MissingFrames::Reason::Failed;
  if (missing_ && missing_->reason == reason && !failed) {
    missing_->last = number - 1;
  } else {
    hand_missing_over();
    missing_ = {
        .first = next_number_, .last = number - 1, .reason = reason, .error = failed ? error : std::string()};
  }
  next_number_ = number;
}

void Runner::hand_missing_over() {
  if (missing_) delivery_.hand_over(std::move(*missing_));
  missing_.reset();
}

/// Accounts for what was under way when the run ended, or was dropped behind the last result.
void Runner::account_for_rest() {
  std::string error;
  auto reason = aborted_ ? MissingFrames::Reason::Aborted : MissingFrames::Reason::RingFull;
  {
    const std::lock_guard lock(failure_mutex_);
    if (failure_code_ == ExitCode::Internal) {
      reason = MissingFrames::Reason::Failed;
      error = "it was under way when the run broke off";
    }
  }
  account_up_to(offered_, reason, error);
  hand_missing_over();
}

void Runner::note_failed_frame(const Slot& slot) {
  ++failed_;
  const FrameFailure failure{.frame = slot.number, .reason = slot.error};
  if (report_.failures.size() < RunReport::kMaxFailures) report_.failures.push_back(failure);
  if (options_.on_failure) options_.on_failure(failure);
}

void Runner::record_times(Slot& slot) {
  const std::int64_t latency = slot.finished_ns - slot.arrived_ns;
  report_.end_to_end.record(latency);
  last_latency_us_ = static_cast<double>(latency) * 1e-3;
  if (is_late(latency)) ++late_;
  report_.parts[0].histogram.record(slot.launched_ns - slot.arrived_ns);
  const PartTimes* const times = slot.graph->times();
  if (times != nullptr) record_parts(slot, *times);
  if (options_.on_times)
    options_.on_times({.frame = slot.number,
                       .arrived_ns = slot.arrived_ns,
                       .queued_ns = slot.launched_ns - slot.arrived_ns,
                       .latency_ns = latency,
                       .parts = times});
}

void Runner::record_parts(const Slot& slot, const PartTimes& times) {
  const std::int32_t track = options_.backend.backend == Backend::Cuda
                                 ? kSlotTracks + static_cast<std::int32_t>(&slot - slots_.data())
                                 : static_cast<std::int32_t>(kLauncherTrack);
  std::size_t part = 1;
  const auto note = [&](std::int64_t from, std::int64_t to, std::int64_t shown_from) {
    if (options_.trace && to > shown_from)
      options_.trace->add(report_.parts[part].name, track, slot.number, shown_from, to);
    report_.parts[part++].histogram.record(to - from);
  };
  // A device copies one frame after the other: until the one before has come up, this one waits.
  note(times.start_ns, times.uploaded_ns, std::max(times.start_ns, uploads_ended_ns_));
  uploads_ended_ns_ = std::max(uploads_ended_ns_, times.uploaded_ns);
  std::int64_t before = times.uploaded_ns;
  for (const std::int64_t done : times.part_ns) {
    note(before, done, before);
    before = done;
  }
  note(before, times.downloaded_ns, before);
}

void Runner::count_contours(const Slot& slot) {
  if (counted_contours_.node == Origin::kSource) return;
  const auto& contours = std::get<ContoursView>(slot.graph->value(counted_contours_));
  for (std::size_t one = 0; one < report_.classes.size(); ++one) {
    const std::uint32_t first = contours.class_begin[one];
    const std::uint32_t last = contours.class_begin[one + 1];
    report_.classes[one].contours += last - first;
    if (last > first) ++report_.classes[one].frames;
    report_.classes[one].points += contours.points_before(one + 1) - contours.points_before(one);
  }
}

/// The counts of a stage that follows objects are those up to its frame: the last frame's remain.
void Runner::count_tracks(const Slot& slot) {
  std::size_t place = 0;
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    const std::span<const TrackCounts> counts = slot.graph->track_counts(node);
    if (counts.empty()) continue;
    if (place == report_.tracks.size()) report_.tracks.push_back({.stage = graph_.nodes[node].name});
    report_.tracks[place++].classes.assign(counts.begin(), counts.end());
  }
}

void Runner::add_to_ledgers(const Slot& slot) {
  const FrameInfo& info = slot.graph->input().info;
  const std::uint64_t hidden = hidden_frame_;
  for (Ledger& one : ledgers_) {
    if (hidden != kNoFrame) one.ledger.note_hidden(hidden);
    const auto& contours = std::get<ContoursView>(slot.graph->value({static_cast<int>(one.node), 0}));
    std::vector<ObjectRecord> records =
        one.ledger.add(contours, {.frame = info.number, .pts_ns = info.pts_ns});
    if (records.empty()) continue;
    delivery_.hand_over(
        {.stage = graph_.nodes[one.node].name, .rule = &one.ledger.rule(), .records = std::move(records)},
        info.number);
  }
}

/// Objects that are still there have no more frames to come.
void Runner::close_ledgers() {
  for (Ledger& one : ledgers_) {
    std::vector<ObjectRecord> records = one.ledger.finish();
    if (!records.empty())
      delivery_.hand_over(
          {.stage = graph_.nodes[one.node].name, .rule = &one.ledger.rule(), .records = std::move(records)},
          Delivery::kAtTheEnd);
    ObjectTotals& totals = report_.objects.emplace_back(one.ledger.totals());
    totals.stage = graph_.nodes[one.node].name;
  }
}

}  // namespace contorno
