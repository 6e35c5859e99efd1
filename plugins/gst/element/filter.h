// What the element `contorno` does, without the ways of GObject (filter_element.cpp): it keeps the
// properties, loads the configuration, plans for the format of the frames, and works on one buffer at a time.
// Properties may be set and read by any thread, and the pad of the maps may come and go in any; the rest is
// called by the streaming thread, or while that does not run.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugins/gst/element/accounts.h"
#include "plugins/gst/element/frame_access.h"
#include "plugins/gst/element/frame_graph.h"
#include "plugins/gst/element/maps_input.h"
#include "plugins/gst/element/node.h"

namespace contorno::gst {

struct FilterSettings {
  std::string config;
  std::optional<Backend> backend;  ///< none: as the configuration says
  bool overlay = true;
  std::string classes;                ///< names with commas between them; empty: all
  guint64 deadline = 0;               ///< ns; 0: as the configuration says
  bool regions = true;                ///< whether a region of interest is attached for each contour
  guint64 maps_timeout = GST_SECOND;  ///< ns that a frame waits for its maps
  MissingMaps maps_missing = MissingMaps::Pass;
  guint64 stats_interval = 0;  ///< ns; 0: none
};

class Filter {
 public:
  explicit Filter(GstElement* element)
      : element_(element), nodes_changed_(std::make_shared<std::atomic<bool>>(false)) {}
  ~Filter();

  FilterSettings settings() const;
  /// `change(settings)` under the lock; the next frame is worked on with them.
  template <class Change>
  void set(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(settings_);
    changed_ = true;
  }
  /// Loads it as far as it can be, so that its nodes can be set; what is wrong with it is said in `start`.
  void set_config(const char* config);
  const Accounts& accounts() const { return accounts_; }

  guint node_count() const;
  GObject* node(guint index) const;              ///< a new reference, or null
  GObject* node(const std::string& name) const;  ///< likewise

  /// Throws what is wrong with the configuration.
  void start();
  void stop();
  void set_format(const GstVideoInfo& info);
  /// Whether an error was posted since the element was started.
  std::atomic<bool>& error_posted() { return error_posted_; }
  bool draws() const { return settings().overlay; }
  void note_arrival() { accounts_.add(Accounts::Count::In); }
  void note_drop() { accounts_.add(Accounts::Count::Dropped); }
  /// Works on a buffer whose metas are writable, and whose memory is if it is drawn on. A frame that cannot
  /// be processed goes on as it is. False: the frame is to be dropped, for want of maps.
  bool process(GstBuffer* buffer);

  /// The pad of the maps, when there is one; null without.
  std::shared_ptr<MapsInput> maps() const;
  void add_maps();
  void remove_maps();

 private:
  void load();
  void replace_nodes(const GraphSpec& graph);
  void prepare(GstClockTime running_time, bool with_maps);
  void work_on(GstBuffer* buffer, const Maps* maps);
  void count_time(GstBuffer* buffer, std::int64_t arrived_ns);
  StreamFormat stream_format() const;
  std::optional<Maps> take_maps(MapsInput& from, GstBuffer* buffer);
  bool go_on_without_maps(GstBuffer* buffer);
  void report_frame(GstBuffer* buffer, const char* what, const std::string& reason);
  void report_statistics();

  GstElement* const element_;
  /// Held while a configuration is loaded and until it is taken; who is told of its nodes may load another.
  std::recursive_mutex load_mutex_;
  mutable std::mutex mutex_;  // of what follows, up to maps_
  FilterSettings settings_;
  std::optional<GraphSpec> loaded_;
  std::vector<GstObject*> nodes_;
  std::shared_ptr<MapsInput> maps_;
  std::atomic<bool> changed_ = true;
  ChangeFlag nodes_changed_;
  Accounts accounts_;
  std::atomic<bool> error_posted_ = false;

  // The streaming thread's.
  FilterSettings used_;
  std::optional<GstVideoInfo> info_;
  std::optional<ImageFormat> maps_format_;  // that the graph is planned for
  std::unique_ptr<FrameGraph> graph_;
  std::unique_ptr<FrameAccess> access_;
  std::uint64_t frame_ = 0;
  std::int64_t last_report_ns_ = 0;
};

}  // namespace contorno::gst
