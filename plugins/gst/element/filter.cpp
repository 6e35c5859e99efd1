#include "plugins/gst/element/filter.h"

#include <fmt/format.h>

#include "cuda/error.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/clock.h"
#include "plugins/gst/element/maps_caps.h"
#include "plugins/gst/element/meta.h"

namespace contorno::gst {
namespace {

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

}  // namespace

Filter::~Filter() {
  for (GstObject* node : nodes_) gst_object_unparent(node);
}

FilterSettings Filter::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void Filter::set_config(const char* config) {
  const std::lock_guard loading(load_mutex_);
  set([&](FilterSettings& settings) {
    settings.config = config != nullptr ? config : "";
    loaded_.reset();
  });
  try {
    load();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): `start` loads it again and says it
  }
}

/// Does nothing when it is loaded already.
void Filter::load() {
  const std::lock_guard loading(load_mutex_);
  std::string config;
  {
    const std::lock_guard lock(mutex_);
    if (loaded_) return;
    config = settings_.config;
  }
  GraphSpec graph = load_configuration(config);
  replace_nodes(graph);
  const std::lock_guard lock(mutex_);
  loaded_ = std::move(graph);
}

void Filter::replace_nodes(const GraphSpec& graph) {
  std::vector<GstObject*> fresh, old;
  for (const NodeSpec& spec : graph.nodes) {
    fresh.push_back(make_node(spec, nodes_changed_));
    gst_object_set_parent(fresh.back(), GST_OBJECT(element_));
  }
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(nodes_, fresh);
  }
  for (GstObject* node : old) {
    gst_child_proxy_child_removed(GST_CHILD_PROXY(element_), G_OBJECT(node), GST_OBJECT_NAME(node));
    gst_object_unparent(node);
  }
  for (GstObject* node : fresh)
    gst_child_proxy_child_added(GST_CHILD_PROXY(element_), G_OBJECT(node), GST_OBJECT_NAME(node));
}

guint Filter::node_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<guint>(nodes_.size());
}

GObject* Filter::node(guint index) const {
  const std::lock_guard lock(mutex_);
  return index < nodes_.size() ? G_OBJECT(gst_object_ref(nodes_[index])) : nullptr;
}

GObject* Filter::node(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (GstObject* node : nodes_)
    if (name == GST_OBJECT_NAME(node)) return G_OBJECT(gst_object_ref(node));
  return nullptr;
}

void Filter::start() {
  accounts_.reset();
  error_posted_ = false;
  frame_ = 0;
  last_report_ns_ = now_ns();
  changed_ = true;
  load();
  if (!info_) prepare(GST_CLOCK_TIME_NONE, maps() != nullptr);
}

void Filter::stop() {
  graph_.reset();
  access_.reset();
  info_.reset();
  maps_format_.reset();
}

std::shared_ptr<MapsInput> Filter::maps() const {
  const std::lock_guard lock(mutex_);
  return maps_;
}

void Filter::add_maps() {
  const std::lock_guard lock(mutex_);
  maps_ = std::make_shared<MapsInput>(accounts_);
  changed_ = true;
}

void Filter::remove_maps() {
  if (const std::shared_ptr<MapsInput> maps = this->maps()) maps->set_flushing(true);
  const std::lock_guard lock(mutex_);
  maps_.reset();
  changed_ = true;
}

void Filter::set_format(const GstVideoInfo& info) {
  access_ = std::make_unique<FrameAccess>(info);
  info_ = info;
  changed_ = true;
  prepare(GST_CLOCK_TIME_NONE, maps() != nullptr);
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
  if (!changed && !nodes_changed && graph_) return;
  graph_.reset();
  GraphSpec graph;
  {
    const std::lock_guard loading(load_mutex_);
    load();
    const std::lock_guard lock(mutex_);
    used_ = settings_;
    graph = *loaded_;
    for (std::size_t i = 0; i < nodes_.size(); ++i) graph.nodes[i].params = params_of(nodes_[i]);
  }
  auto made = std::make_unique<FrameGraph>(
      std::move(graph), FrameGraphOptions{used_.backend, used_.overlay, names_in(used_.classes)});
  if (!info_ || (with_maps && !maps_format_)) return;  // that it can be made is all that can be known
  made->plan(stream_format());
  graph_ = std::move(made);
}

/// Maps cover the whole frame.
StreamFormat Filter::stream_format() const {
  StreamFormat stream{.frame = access_->format(), .description = "the pipeline"};
  if (!maps_format_) return stream;
  stream.maps = *maps_format_;
  stream.maps->placement = {.scale_x = static_cast<double>(info_->width) / maps_format_->width,
                            .scale_y = static_cast<double>(info_->height) / maps_format_->height};
  return stream;
}

std::optional<Maps> Filter::take_maps(MapsInput& from, GstBuffer* buffer) {
  std::optional<Maps> maps = from.take(GST_BUFFER_PTS(buffer), settings().maps_timeout);
  if (maps && maps_format_ != maps->format) {
    maps_format_ = maps->format;
    changed_ = true;
  }
  return maps;
}

/// By the policy. True: it goes on as it is.
bool Filter::go_on_without_maps(GstBuffer* buffer) {
  accounts_.add(Accounts::Count::MapsMissing);
  constexpr const char* kReason = "no maps with its time came";
  const MissingMaps policy = settings().maps_missing;
  if (policy == MissingMaps::Error)
    throw Error(ExitCode::MissingInput, fmt::format("frame {}: {}", frame_, kReason));
  accounts_.add(policy == MissingMaps::Pass ? Accounts::Count::Failed : Accounts::Count::Dropped);
  report_frame(buffer, policy == MissingMaps::Pass ? "failed" : "dropped", kReason);
  ++frame_;
  return policy == MissingMaps::Pass;
}

bool Filter::process(GstBuffer* buffer) {
  const std::int64_t arrived_ns = now_ns();
  struct Unref {
    std::optional<Maps> maps;
    ~Unref() {
      if (maps) gst_buffer_unref(maps->buffer);
    }
  } taken;
  // Once a frame: the pad may come and go at any time.
  const std::shared_ptr<MapsInput> input = maps();
  if (input) {
    taken.maps = take_maps(*input, buffer);
    if (!taken.maps) return go_on_without_maps(buffer);
  } else if (maps_format_) {
    maps_format_.reset();
    changed_ = true;
  }
  const GstSegment& segment = GST_BASE_TRANSFORM(element_)->segment;
  const GstClockTime time =
      segment.format == GST_FORMAT_TIME
          ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  prepare(time, input != nullptr);
  try {
    work_on(buffer, taken.maps ? &*taken.maps : nullptr);
    accounts_.add(Accounts::Count::Out);
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadData) throw;
    accounts_.add(Accounts::Count::Failed);
    report_frame(buffer, "failed", error.what());
  }
  count_time(buffer, arrived_ns);
  ++frame_;
  report_statistics();
  return true;
}

void Filter::count_time(GstBuffer* buffer, std::int64_t arrived_ns) {
  const std::int64_t took_ns = now_ns() - arrived_ns;
  accounts_.record(took_ns);
  constexpr double kNsPerMs = 1e6;
  const double deadline_ns = used_.deadline > 0 ? static_cast<double>(used_.deadline)
                                                : graph_->graph().settings.deadline_ms * kNsPerMs;
  if (deadline_ns <= 0 || static_cast<double>(took_ns) <= deadline_ns) return;
  accounts_.add(Accounts::Count::Late);
  report_frame(buffer, "late",
               fmt::format("took {:.3f} ms, the deadline is {:.3f} ms",
                           static_cast<double>(took_ns) / kNsPerMs, deadline_ns / kNsPerMs));
}

void Filter::work_on(GstBuffer* buffer, const Maps* maps) {
  const auto flags = static_cast<GstMapFlags>(used_.overlay ? GST_MAP_READWRITE : GST_MAP_READ);
  {
    MappedFrame frame(buffer, *info_, flags);
    access_->read(frame, graph_->input().frame);
    if (maps != nullptr) copy_maps(*maps, graph_->input().maps);
    const int regrown = graph_->run();
    if (regrown > 0) accounts_.add(Accounts::Count::Regrown, static_cast<std::uint64_t>(regrown));
    if (const ImageView* drawing = graph_->drawing())
      access_->write_changes(frame, graph_->input().frame, *drawing);
  }
  const SharedBlock block = make_block(
      graph_->contours(), graph_->graph().classes, [&](std::size_t one) { return graph_->is_wanted(one); },
      info_->width, info_->height, frame_);
  accounts_.add(Accounts::Count::Contours, block->closed.size());
  attach_contours(buffer, block);
  if (used_.regions) attach_regions(buffer, *block);
}

void Filter::report_frame(GstBuffer* buffer, const char* what, const std::string& reason) {
  gst_element_post_message(
      element_, gst_message_new_element(
                    GST_OBJECT(element_),
                    gst_structure_new("contorno-frame", "what", G_TYPE_STRING, what, "frame", G_TYPE_UINT64,
                                      guint64{frame_}, "pts", G_TYPE_UINT64, GST_BUFFER_PTS(buffer), "reason",
                                      G_TYPE_STRING, reason.c_str(), nullptr)));
}

void Filter::report_statistics() {
  const std::int64_t now = now_ns();
  if (used_.stats_interval == 0 || now - last_report_ns_ < static_cast<std::int64_t>(used_.stats_interval))
    return;
  last_report_ns_ = now;
  gst_element_post_message(
      element_, gst_message_new_element(GST_OBJECT(element_), accounts_.to_structure("contorno-stats")));
}

}  // namespace contorno::gst
