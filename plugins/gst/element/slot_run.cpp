#include "plugins/gst/element/slot_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/files/contours/object_text.h"
#include "plugins/gst/element/maps_caps.h"
#include "plugins/gst/element/regions.h"

namespace contorno::gst {
namespace {

void copy_maps(const Maps& maps, const ImageView& to) {
  GstMapInfo memory;
  if (gst_buffer_map(maps.buffer, &memory, GST_MAP_READ) == 0)
    throw Error(ExitCode::BadData, "a buffer of maps cannot be mapped");
  const bool whole = memory.size >= maps_bytes(maps.format);
  if (whole) copy_image(maps_view(memory.data, maps.format), to);
  const std::size_t size = memory.size;
  gst_buffer_unmap(maps.buffer, &memory);
  if (!whole)
    throw Error(ExitCode::BadData, fmt::format("a buffer of maps has {} bytes, but {} take {}", size,
                                               describe(maps.format), maps_bytes(maps.format)));
}

/// The buffer itself, if nobody else has it or its pixels; else a copy of both.
GstBuffer* make_all_writable(GstBuffer* buffer) {
  if (gst_buffer_is_writable(buffer) && gst_buffer_is_all_memory_writable(buffer)) return buffer;
  GstBuffer* const copy = gst_buffer_copy_deep(buffer);
  if (copy == nullptr) throw Error(ExitCode::OutOfMemory, "out of memory for a copy of a buffer");
  gst_buffer_unref(buffer);
  return copy;
}

}  // namespace

/// The source that the runner reads frames from.
class SlotRun::Frames final : public Source {
 public:
  explicit Frames(SlotRun& run) : run_(run) { run.queue_.start_reading(); }

  const StreamFormat& format() const override { return run_.settings_.stream; }
  /// A frame that cannot be read goes on as it is, and takes no slot.
  ReadResult read(FrameInput& input) override {
    while (PassingFrame* const frame = run_.queue_.take_waiting()) {
      try {
        bring(*frame, input);
      } catch (const Error& error) {
        if (error.code() != ExitCode::BadData) throw;
        frame->failure = error.what();
        run_.complete(*frame);
        continue;
      }
      run_.queue_.begin(*frame, count_++, run_.drawings_ ? 2 : 1);
      return ReadResult::Frame;
    }
    return ReadResult::End;
  }
  void cancel() override { run_.queue_.stop_reading(); }

 private:
  void bring(PassingFrame& frame, FrameInput& input) const {
    MappedFrame mapped = run_.access_.map(frame.buffer, GST_MAP_READ);
    run_.access_.read(mapped, input.frame);
    frame.seen = input.frame;
    input.info = {.pts_ns = static_cast<std::int64_t>(GST_BUFFER_PTS(frame.buffer))};
    if (!frame.maps) return;
    copy_maps(*frame.maps, input.maps);
    gst_buffer_unref(frame.maps->buffer);
    frame.maps.reset();
  }

  SlotRun& run_;
  std::uint64_t count_ = 0;  // as the runner numbers them
};

/// A sink that takes one of the results of a frame.
class SlotRun::Results final : public Sink {
 public:
  using Take = std::function<void(PassingFrame&, const Value&)>;
  Results(SlotRun& run, Take take) : run_(run), take_(std::move(take)) {}

  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    PassingFrame& frame = run_.queue_.of_run(info.number);
    try {
      take_(frame, value);
    } catch (const Error& error) {
      if (error.code() == ExitCode::BadData)
        run_.queue_.fail(frame, error.what());
      else
        run_.owner_.broken();
    } catch (...) {
      run_.owner_.broken();
    }
    run_.add_result(frame);
  }
  void write_objects(const FinishedObjects& objects) override {
    if (run_.contours_.get() == this) run_.note_objects(objects);
  }
  void finish() override {}

 private:
  SlotRun& run_;
  Take take_;
};

SlotRun::SlotRun(FrameGraph graph, Settings settings, FrameAccess& access, FrameQueue& queue,
                 Accounts& accounts, Owner owner)
    : graph_(std::move(graph)),
      settings_(std::move(settings)),
      access_(access),
      queue_(queue),
      accounts_(accounts),
      owner_(std::move(owner)) {
  if (access_.has_buffers_on_device() && graph_.backend().backend != Backend::Cuda)
    throw Error(
        ExitCode::BadConfig,
        fmt::format("frames in memory of the device need the backend cuda, but the graph runs on the {}",
                    name_of(graph_.backend().backend)));
  graph_.bind(settings_.stream);
  frames_ = std::make_unique<Frames>(*this);
  runner_ = std::make_unique<Runner>(graph_.graph(), *frames_, bind(), options());
  check_drawing();
  queue_.set_room(static_cast<std::size_t>(graph_.graph().settings.slots));
  thread_ = start_thread("finisher", [this] {
    try {
      runner_->run();
    } catch (...) {
      owner_.broken();
    }
    queue_.abandon();
  });
}

SlotRun::~SlotRun() {
  runner_->request_stop();
  thread_.join();
}

bool SlotRun::makes_objects() const {
  return std::ranges::any_of(graph_.graph().nodes,
                             [](const NodeSpec& node) { return node.type->makes_objects; });
}

std::vector<SinkBinding> SlotRun::bind() {
  std::vector<SinkBinding> sinks;
  contours_ = std::make_unique<Results>(*this, [this](PassingFrame& frame, const Value& value) {
    const std::uint64_t regrown = runner_->progress().regrown;
    accounts_.add(Accounts::Count::Regrown, regrown - std::exchange(regrown_, regrown));
    frame.contours = make_block(
        std::get<ContoursView>(value), graph_.graph().classes,
        [&](std::size_t one) { return graph_.is_wanted(one); }, access_.info().width, access_.info().height,
        frame.number, std::exchange(objects_, {}));
  });
  sinks.push_back({.name = "contours", .sink = contours_.get(), .input = graph_.contours()});
  if (!graph_.drawing()) return sinks;
  drawings_ = std::make_unique<Results>(
      *this, [this](PassingFrame& frame, const Value& value) { draw(frame, std::get<ImageView>(value)); });
  sinks.push_back({.name = "drawing", .sink = drawings_.get(), .input = *graph_.drawing()});
  return sinks;
}

RunOptions SlotRun::options() {
  RunOptions options;
  options.backend = graph_.backend();
  options.probe_every = kNoFrame;
  options.frames_on_device = access_.has_frames_on_device();
  options.text = graph_.text();
  options.on_failure = [this](const FrameFailure& failure) {
    PassingFrame& frame = queue_.of_run(failure.frame);
    queue_.fail(frame, failure.reason);
    complete(frame);
  };
  options.on_drop = [this](std::uint64_t number, DropReason) {
    PassingFrame& frame = queue_.of_run(number);
    owner_.report(frame, "dropped", "it waited for longer than the deadline");
    queue_.drop(frame);
  };
  return options;
}

void SlotRun::check_drawing() const {
  if (!graph_.drawing()) return;
  const auto& drawn = std::get<ImageFormat>(runner_->format(*graph_.drawing()));
  const ImageFormat frame = FrameAccess::format(access_.info());
  if (drawn.width == frame.width && drawn.height == frame.height && drawn.channels == frame.channels &&
      drawn.type == frame.type)
    return;
  throw Error(ExitCode::BadConfig,
              fmt::format("node '{}' draws on {}, but the frames are {}; let it take source.frame",
                          graph_.graph().nodes[static_cast<std::size_t>(graph_.drawing()->node)].name,
                          describe(drawn), describe(frame)));
}

void SlotRun::draw(PassingFrame& frame, const ImageView& drawing) {
  if (!access_.find_changes(frame.seen, drawing)) return;
  frame.buffer = make_all_writable(frame.buffer);
  MappedFrame mapped = access_.map(frame.buffer, GST_MAP_READWRITE);
  access_.write_changes(mapped, frame.seen, drawing);
}

void SlotRun::add_result(PassingFrame& frame) {
  if (queue_.has_result(frame)) complete(frame);
}

/// The frame has all that it will get.
void SlotRun::complete(PassingFrame& frame) {
  if (frame.failure.empty() && frame.contours) {
    accounts_.add(Accounts::Count::Contours, frame.contours->contours.view.counts->contours);
    frame.buffer = gst_buffer_make_writable(frame.buffer);
    attach_contours(frame.buffer, frame.contours);
    if (settings_.regions) attach_regions(frame.buffer, *frame.contours);
  }
  if (!frame.failure.empty()) owner_.report(frame, "failed", frame.failure);
  check_time(frame);
  queue_.finish(frame);
}

void SlotRun::note_objects(const FinishedObjects& objects) {
  TextBuffer text;
  for (const ObjectRecord& record : objects.records) {
    text.clear();
    text << '{';
    write_record(text, objects, record);
    text << '}';
    const std::string line(text.view());
    owner_.object(record, objects.rule->name, line);
    objects_ += line + '\n';
  }
}

void SlotRun::check_time(const PassingFrame& frame) {
  const std::int64_t took_ns = now_ns() - frame.arrived_ns;
  accounts_.record(took_ns);
  if (settings_.deadline_ns == 0 || took_ns <= settings_.deadline_ns) return;
  accounts_.add(Accounts::Count::Late);
  constexpr double kNsPerMs = 1e6;
  owner_.report(
      frame, "late",
      fmt::format("took {:.3f} ms, the deadline is {:.3f} ms", static_cast<double>(took_ns) / kNsPerMs,
                  static_cast<double>(settings_.deadline_ns) / kNsPerMs));
}

}  // namespace contorno::gst
