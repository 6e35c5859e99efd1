#include "plugins/gst/element/filter.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "cuda/device.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/shared/clock.h"
#include "plugins/gst/element/guard.h"
#include "plugins/gst/element/log.h"

namespace contorno::gst {
namespace {

constexpr double kNsPerMs = 1e6;

/// The names between commas, without blanks around them.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::size_t from = 0;
  while (from <= list.size()) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    const std::size_t first = list.find_first_not_of(" \t", from),
                      last = list.find_last_not_of(" \t", comma - 1);
    if (first < comma && comma > from) names.push_back(list.substr(first, last - first + 1));
    from = comma + 1;
  }
  return names;
}

}  // namespace

Filter::~Filter() {
  end_run();
  for (GstObject* node : nodes_) gst_object_unparent(node);
}

FilterSettings Filter::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void Filter::start() {
  accounts_.reset();
  error_posted_ = false;
  frame_ = 0;
  after_gap_ = false;
  told_fields_ = false;
  last_report_ns_ = now_ns();
  changed_ = true;
  load();
  check_maps_source();
  if (!info_) prepare(GST_CLOCK_TIME_NONE, maps_source().exists());
}

void Filter::stop() {
  end_run();
  latency_ = 0;
  access_.reset();
  info_.reset();
  maps_format_.reset();
}

bool Filter::takes_device_memory() const {
  std::optional<Backend> backend;
  {
    const std::lock_guard lock(mutex_);
    backend = settings_.backend ? settings_.backend
              : loaded_         ? std::optional(loaded_->settings.backend.backend)
                                : std::nullopt;
  }
  return backend != Backend::Cpu && device_report().available;
}

void Filter::set_format(const GstVideoInfo& info, bool on_device) {
  end_run();
  info_ = info;
  on_device_ = on_device;
  changed_ = true;
  prepare(GST_CLOCK_TIME_NONE, maps_source().exists());
}

/// Takes over what was set since the last frame, and plans again if something was.
void Filter::prepare(GstClockTime running_time, bool with_maps) {
  std::vector<GstObject*> nodes;
  {
    const std::lock_guard lock(mutex_);
    for (GstObject* node : nodes_) nodes.push_back(static_cast<GstObject*>(gst_object_ref(node)));
  }
  struct Unref {
    std::vector<GstObject*>& nodes;
    ~Unref() {
      for (GstObject* node : nodes) gst_object_unref(node);
    }
  } const unref{nodes};
  if (GST_CLOCK_TIME_IS_VALID(running_time))
    for (GstObject* node : nodes) gst_object_sync_values(node, running_time);
  const bool changed = changed_.exchange(false), nodes_changed = nodes_changed_->exchange(false);
  if (!changed && !nodes_changed && run_) return;
  end_run();
  GraphSpec graph;
  {
    const std::lock_guard loading(load_mutex_);
    load();
    const std::lock_guard lock(mutex_);
    used_ = settings_;
    graph = *loaded_;
    for (std::size_t i = 0; i < nodes_.size(); ++i) graph.nodes[i].params = params_of(nodes_[i]);
  }
  FrameGraph made(std::move(graph), {used_.backend, used_.overlay, names_in(used_.classes)});
  if (!info_ || (with_maps && !maps_format_)) return;  // the sizes are not known yet: no more can be planned
  run(std::move(made));
}

/// The graph's own source and sinks would decide how frames are dropped; here that is the pipeline's affair.
void Filter::run(FrameGraph graph) {
  PipelineSettings& settings = graph.graph().settings;
  const std::int64_t deadline = deadline_ns(graph.graph());
  settings.on_full = OnFull::Wait;
  settings.deadline_ms = used_.late_frames == LateFrames::Drop ? static_cast<double>(deadline) / kNsPerMs : 0;
  if (used_.slots > 0) settings.slots = static_cast<int>(used_.slots);
  const int slots = settings.slots;
  with_device(graph.backend(), [&] {
    access_ = std::make_unique<FrameAccess>(*info_, place_of_frames(graph.backend().backend));
  });
  run_ = std::make_unique<SlotRun>(
      std::move(graph),
      SlotRun::Settings{.stream = stream_format(), .regions = used_.regions, .deadline_ns = deadline},
      *access_, queue_, accounts_,
      SlotRun::Owner{[this](const PassingFrame& frame, const char* what, const std::string& reason) {
                       report_frame(frame, what, reason);
                     },
                     [this](const ObjectRecord& record, const std::string& called, const std::string& line) {
                       report_object(record, called, line);
                     },
                     [this] { end_broken(); }});
  GST_INFO_OBJECT(element_, "planned for %dx%d %s on %s, with %d slots%s", info_->width, info_->height,
                  GST_VIDEO_INFO_NAME(&*info_), std::string(name_of(run_->backend())).c_str(), slots,
                  maps_format_ ? " and maps" : "");
  tell_latency(slots);
}

FrameAccess::Place Filter::place_of_frames(Backend backend) const {
  if (on_device_) return FrameAccess::Place::Device;
  const bool is_rgba = GST_VIDEO_INFO_FORMAT(&*info_) == GST_VIDEO_FORMAT_RGBA;
  return is_rgba && backend == Backend::Cuda ? FrameAccess::Place::Copied : FrameAccess::Place::Host;
}

void Filter::end_stream() {
  if (run_ && run_->makes_objects()) end_run();
}

/// Ends the run when the frames that are in work are finished.
void Filter::end_run() {
  if (!run_) return;
  queue_.settle();
  run_.reset();
}

void Filter::tell_latency(int slots) {
  const bool known = info_->fps_n > 0;
  GstClockTime latency =
      known ? gst_util_uint64_scale(static_cast<guint64>(slots - 1) * GST_SECOND,
                                    static_cast<guint64>(info_->fps_d), static_cast<guint64>(info_->fps_n))
            : 0;
  // Frames that take centuries: the sum with that of others must not go round.
  latency = std::min(latency, GstClockTime{G_MAXINT64});
  if (latency_.exchange(latency) == latency) return;
  GST_DEBUG_OBJECT(element_, "adds %" GST_TIME_FORMAT " to the latency", GST_TIME_ARGS(latency));
  gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT(element_)));
}

std::int64_t Filter::deadline_ns(const GraphSpec& graph) const {
  return used_.deadline > 0 ? static_cast<std::int64_t>(used_.deadline)
                            : static_cast<std::int64_t>(graph.settings.deadline_ms * kNsPerMs);
}

/// Maps cover the whole frame.
StreamFormat Filter::stream_format() const {
  StreamFormat stream{.frame = FrameAccess::format(*info_), .description = "the pipeline"};
  if (!maps_format_) return stream;
  stream.maps = *maps_format_;
  stream.maps->placement = {.scale_x = static_cast<double>(info_->width) / maps_format_->width,
                            .scale_y = static_cast<double>(info_->height) / maps_format_->height};
  return stream;
}

GstClockTime Filter::stream_time(GstBuffer* buffer) const {
  const GstSegment& segment = GST_BASE_TRANSFORM(element_)->segment;
  return segment.format == GST_FORMAT_TIME
             ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
             : GST_CLOCK_TIME_NONE;
}

void Filter::note_drop() {
  GST_DEBUG_OBJECT(element_, "a frame is dropped");
  accounts_.add(Accounts::Count::Dropped);
  after_gap_ = true;
}

GstFlowReturn Filter::take_in(GstBuffer* buffer) {
  PassingFrame frame;
  frame.buffer = buffer;
  frame.number = frame_++;
  frame.arrived_ns = now_ns();
  GST_LOG_OBJECT(element_, "frame %" G_GUINT64_FORMAT " came, time %" GST_TIME_FORMAT, guint64{frame.number},
                 GST_TIME_ARGS(GST_BUFFER_PTS(buffer)));
  note_fields(frame);
  const auto give_back = [&] {
    gst_buffer_unref(frame.buffer);
    if (frame.maps) gst_buffer_unref(frame.maps->buffer);
    note_drop();
  };
  try {
    // Once a frame: the pad may come and go at any time.
    const MapsSource source = maps_source();
    if (source.exists())
      take_maps(source, frame);
    else if (std::exchange(maps_format_, std::nullopt))
      changed_ = true;
    if (source.exists() && !frame.maps) {
      if (!take_missing(source, frame)) {
        give_back();
        return GST_FLOW_OK;
      }
    } else {
      prepare(stream_time(buffer), source.exists());
      frame.state = PassingFrame::State::Waiting;
    }
  } catch (...) {
    give_back();
    throw;
  }
  frame.after_gap = std::exchange(after_gap_, false);
  return queue_.enter(std::move(frame));
}

/// Contours of frames whose rows are of two times are counted, and said once: the element changes no pixels
/// that it does not draw on.
void Filter::note_fields(const PassingFrame& frame) {
  if (!info_ || !GST_VIDEO_INFO_IS_INTERLACED(&*info_)) return;
  if (GST_VIDEO_INFO_INTERLACE_MODE(&*info_) == GST_VIDEO_INTERLACE_MODE_MIXED &&
      !GST_BUFFER_FLAG_IS_SET(frame.buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED))
    return;
  accounts_.add(Accounts::Count::Interlaced);
  if (std::exchange(told_fields_, true)) return;
  report_frame(frame, "interlaced",
               "the stream is interlaced: contours of what moves follow two fields that were taken one after "
               "the other; put 'deinterlace' before the element");
}

bool Filter::push_first(const std::function<GstFlowReturn(GstBuffer*)>& push) {
  PassingFrame* const frame = queue_.take_first();
  if (frame == nullptr) return false;
  accounts_.add(frame->failure.empty() ? Accounts::Count::Out : Accounts::Count::Failed);
  if (frame->after_gap) {
    frame->buffer = gst_buffer_make_writable(frame->buffer);
    GST_BUFFER_FLAG_SET(frame->buffer, GST_BUFFER_FLAG_DISCONT);
  }
  report_statistics();
  GST_LOG_OBJECT(element_,
                 "frame %" G_GUINT64_FORMAT " goes on %.3f ms after it came, with %" G_GUINT64_FORMAT
                 " contours",
                 guint64{frame->number}, static_cast<double>(now_ns() - frame->arrived_ns) / kNsPerMs,
                 frame->contours ? guint64{frame->contours->contours.view.counts->contours} : 0);
  queue_.left(push(std::exchange(frame->buffer, nullptr)));
  return true;
}

/// Posts the exception and refuses further frames. Called in the handler of the exception.
void Filter::end_broken() {
  if (!error_posted_.exchange(true)) post_current_exception(element_);
  queue_.refuse(GST_FLOW_ERROR);
}

void Filter::report_frame(const PassingFrame& frame, const char* what, const std::string& reason) {
  GST_WARNING_OBJECT(element_, "frame %" G_GUINT64_FORMAT " %s: %s", guint64{frame.number}, what,
                     reason.c_str());
  gst_element_post_message(
      element_, gst_message_new_element(GST_OBJECT(element_),
                                        gst_structure_new("contorno-frame", "what", G_TYPE_STRING, what,
                                                          "frame", G_TYPE_UINT64, guint64{frame.number},
                                                          "pts", G_TYPE_UINT64, GST_BUFFER_PTS(frame.buffer),
                                                          "reason", G_TYPE_STRING, reason.c_str(), nullptr)));
}

void Filter::report_object(const ObjectRecord& record, const std::string& called, const std::string& line) {
  gst_element_post_message(
      element_,
      gst_message_new_element(
          GST_OBJECT(element_),
          gst_structure_new("contorno-object", "object", G_TYPE_STRING, called.c_str(), "id", G_TYPE_UINT64,
                            guint64{record.id}, "json", G_TYPE_STRING, line.c_str(), nullptr)));
}

void Filter::report_statistics() {
  const std::int64_t now = now_ns();
  guint64 interval = 0;
  {
    const std::lock_guard lock(mutex_);
    interval = settings_.stats_interval;
  }
  if (interval == 0 || now - last_report_ns_ < static_cast<std::int64_t>(interval)) return;
  last_report_ns_ = now;
  gst_element_post_message(
      element_, gst_message_new_element(GST_OBJECT(element_), accounts_.to_structure("contorno-stats")));
}

}  // namespace contorno::gst
