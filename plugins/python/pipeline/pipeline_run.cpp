#include "plugins/python/pipeline/pipeline_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <new>

#include "base/error.h"
#include "config/load.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/files/contours/object_text.h"
#include "plugins/text/pango.h"

namespace contorno::python {
namespace {

OwnedImage owned(const ImageView& from) {
  OwnedImage image{.format = from.format};
  image.format.layout = Layout::Interleaved;
  image.samples = Buffer<std::byte>(image.format.row_bytes() * static_cast<std::size_t>(image.format.height));
  copy_image(from,
             {image.samples.data(), image.format, static_cast<std::ptrdiff_t>(image.format.row_bytes()), 0});
  return image;
}

void copy_contours(const ContoursView& from, FrameResult& result) {
  const auto count = static_cast<std::size_t>(from.counts->contours);
  result.placement = from.format.placement;
  result.points = Buffer<Point>(from.counts->points);
  if (result.points.size() > 0)
    std::memcpy(result.points.data(), from.points, result.points.size() * sizeof(Point));
  result.offsets = Buffer<std::int64_t>(count + 1);
  result.closed = Buffer<std::uint8_t>(count);
  result.class_ids = Buffer<std::int32_t>(count);
  std::copy_n(from.offsets, count + 1, result.offsets.data());
  std::copy_n(from.closed, count, result.closed.data());
  for (int one = 0; one < from.format.classes; ++one)
    std::fill(result.class_ids.data() + from.class_begin[one],
              result.class_ids.data() + from.class_begin[one + 1], one);
  from.format.attributes.for_each([&](Attribute attribute) {
    Buffer<double>& column = result.attributes.emplace_back(name_of(attribute), Buffer<double>(count)).second;
    std::copy_n(from.column(attribute), count, column.data());
  });
}

std::unique_ptr<TextRasteriser> make_text() {
  return make_pango_text();
}

}  // namespace

/// A sink that adds one value to the results; the first one adds records of objects too.
class PipelineRun::Collector final : public Sink {
 public:
  enum class Part : std::uint8_t { Frame, Contours, Overlay, Nothing };
  Collector(PipelineRun& run, Part part, bool is_first) : run_(run), part_(part), is_first_(is_first) {}

  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    FrameResult* const result = run_.wait_for_turn(info.number);
    if (result == nullptr) return;
    const char* error = nullptr;
    try {
      fill(*result, value);
    } catch (const std::bad_alloc&) {
      error = "out of memory while the result was copied";
    }
    run_.add_part(info, error);
  }
  void write_objects(const FinishedObjects& objects) override {
    if (is_first_) run_.add_objects(objects);
  }
  void finish() override {}

 private:
  void fill(FrameResult& result, const Value& value) const {
    switch (part_) {
      case Part::Frame:
        result.frame = owned(std::get<ImageView>(value));
        return;
      case Part::Contours:
        copy_contours(std::get<ContoursView>(value), result);
        return;
      case Part::Overlay:
        result.overlay = owned(std::get<ImageView>(value));
        return;
      case Part::Nothing:
        return;
    }
  }

  PipelineRun& run_;
  Part part_;
  bool is_first_;
};

PipelineRun::PipelineRun(GraphSpec graph, const RunSettings& settings, std::unique_ptr<Source> source)
    : graph_(std::move(graph)), settings_(settings), source_(std::move(source)), text_(make_text()) {
  const BackendChoice backend = choose_backend(graph_.settings.backend, graph_);
  if (source_) {
    notice_ = config::bind_source(graph_, source_->format());
  } else {
    config::BoundSource bound = config::open_source(graph_);
    source_ = std::move(bound.source);
    notice_ = std::move(bound.notice);
  }
  for (const SinkSpec& spec : graph_.sinks) {
    sinks_.push_back(spec.type->make(spec.params));
    bindings_.push_back(bind_sink(spec, *sinks_.back()));
  }
  bind_collectors();
  files_.add_inputs(graph_, *source_);
  const auto failed = [this](const FrameFailure& failure) {
    FrameResult result;
    result.info.number = failure.frame;
    result.error = failure.reason.empty() ? "the frame failed" : failure.reason;
    expect(std::move(result), 0);
  };
  runner_ = std::make_unique<Runner>(
      graph_, *source_, bindings_,
      RunOptions{.backend = backend,
                 .max_frames = settings_.max_frames,
                 .output_root = settings_.output_root,
                 .outputs = &files_,
                 .probe_every = kEveryFrame,
                 .maps_on_device = settings_.maps_on_device,
                 .text = text_.get(),
                 .on_failure = failed,
                 .on_times = [this](const FrameTimes& times) { note_times(times); }});
  thread_ = start_thread("finisher", [this] {
    std::exception_ptr failure;
    try {
      runner_->run();
    } catch (...) {
      failure = std::current_exception();
    }
    source_->cancel();  // whoever pushes need not wait any more
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  });
}

PipelineRun::~PipelineRun() {
  stop();
}

/// The last contours and the last image of the graph, and the source's picture.
void PipelineRun::bind_collectors() {
  part_names_ = part_names(graph_);
  std::optional<Origin> contours, overlay, last;
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node)
    for (std::size_t port = 0; port < graph_.nodes[node].type->outputs.size(); ++port) {
      const PortType type = graph_.nodes[node].type->outputs[port].type;
      const Origin origin{static_cast<int>(node), static_cast<int>(port)};
      if (type == PortType::Contours) contours = origin;
      if (type == PortType::Image) overlay = origin;
    }
  const bool has_frame = source_->format().frame.has_value();
  if (!contours && !overlay)
    throw Error(ExitCode::BadConfig,
                "the graph makes neither contours nor an image: there is nothing to iterate over");
  const auto bind = [&](Collector::Part part, const Origin& origin, const char* name) {
    sinks_.push_back(std::make_unique<Collector>(*this, part, parts_ == 0));
    ++parts_;
    bindings_.push_back({.name = name, .sink = sinks_.back().get(), .input = origin});
  };
  if (has_frame && settings_.images)
    bind(Collector::Part::Frame, {Origin::kSource, Origin::kFrame}, "frame for Python");
  if (contours) bind(Collector::Part::Contours, *contours, "contours for Python");
  if (overlay && settings_.images) bind(Collector::Part::Overlay, *overlay, "image for Python");
  if (parts_ == 0) bind(Collector::Part::Nothing, *overlay, "Python");
}

/// Makes the entry of a result that the sinks are about to get.
void PipelineRun::note_times(const FrameTimes& of) {
  const PartTimes& parts = *of.parts;
  FrameResult result;
  result.info.number = of.frame;
  const auto add = [&](const std::string& name, std::int64_t ns) {
    result.milliseconds.emplace_back(name, static_cast<double>(ns) * 1e-6);
  };
  add("end_to_end", of.latency_ns);
  add("queue", of.queued_ns);
  add("upload", parts.uploaded_ns - parts.start_ns);
  std::int64_t before = parts.uploaded_ns;
  for (std::size_t part = 0; part < parts.part_ns.size(); ++part) {
    add(part_names_[part], parts.part_ns[part] - before);
    before = parts.part_ns[part];
  }
  add("download", parts.downloaded_ns - before);
  expect(std::move(result), parts_);
}

/// Adds an entry, in the order of the frames. One without parts is complete, and waits for room.
void PipelineRun::expect(FrameResult result, int parts) {
  std::unique_lock lock(mutex_);
  if (parts == 0)
    changed_.wait(
        lock, [&] { return stopped_ || settings_.lookahead == 0 || results_.size() < settings_.lookahead; });
  if (stopped_) return;
  results_.push_back({std::move(result), parts});
  changed_.notify_all();
}

/// The number of results before that of `frame`; with the mutex held.
std::size_t PipelineRun::place_of(std::uint64_t frame) const {
  const auto at = std::lower_bound(
      results_.begin(), results_.end(), frame,
      [](const Entry& entry, std::uint64_t number) { return entry.result.info.number < number; });
  return static_cast<std::size_t>(at - results_.begin());
}

/// Waits until fewer than `lookahead` results are before that of `frame`; null once the run was stopped. The
/// result stays where it is until all its parts are there, and every collector writes its own part.
FrameResult* PipelineRun::wait_for_turn(std::uint64_t frame) {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return stopped_ || settings_.lookahead == 0 || place_of(frame) < settings_.lookahead; });
  return stopped_ ? nullptr : &results_[place_of(frame)].result;
}

/// A collector is done with the result of a frame; `error` says why its part is missing, or is null.
void PipelineRun::add_part(const FrameInfo& info, const char* error) {
  const std::lock_guard lock(mutex_);
  Entry& entry = results_[place_of(info.number)];
  entry.result.info = info;
  if (error != nullptr) entry.result.error = error;
  if (--entry.missing == 0) changed_.notify_all();
}

void PipelineRun::add_objects(const FinishedObjects& objects) {
  TextBuffer text;
  for (const ObjectRecord& record : objects.records) {
    text.clear();
    text << '{';
    write_record(text, objects, record);
    text << '}';
    const std::lock_guard lock(mutex_);
    if (objects_.size() == kMostRecords) objects_.pop_front();
    objects_.emplace_back(text.view());
  }
}

std::vector<std::string> PipelineRun::take_objects() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> taken(std::make_move_iterator(objects_.begin()),
                                 std::make_move_iterator(objects_.end()));
  objects_.clear();
  return taken;
}

PipelineRun::Taken PipelineRun::take(FrameResult& result, int milliseconds) {
  std::unique_lock lock(mutex_);
  const auto is_there = [&] { return !results_.empty() && results_.front().missing == 0; };
  changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return ended_ || is_there(); });
  if (is_there()) {
    result = std::move(results_.front().result);
    results_.pop_front();
    changed_.notify_all();
    return Taken::Result;
  }
  if (!ended_) return Taken::Nothing;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return Taken::End;
}

void PipelineRun::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (!thread_.joinable()) return;
  runner_->abort();
  thread_.join();
}

}  // namespace contorno::python
