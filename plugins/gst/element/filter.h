// What the element `contorno` does, without the ways of GObject (filter_element.cpp): it keeps the
// properties, loads the configuration, plans for the format of the frames, puts buffers into the slots of a
// run as they come, and pushes them in order when their work is done. Properties may be set and read by any
// thread, and the pad of the maps may come and go in any; `push_first` is called by the thread of the source
// pad; the rest by the streaming thread, or while that does not run.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugins/gst/element/accounts.h"
#include "plugins/gst/element/frame_access.h"
#include "plugins/gst/element/frame_graph.h"
#include "plugins/gst/element/frame_queue.h"
#include "plugins/gst/element/maps_input.h"
#include "plugins/gst/element/node.h"
#include "plugins/gst/element/slot_run.h"

namespace contorno::gst {

/// What becomes of a frame that has waited for longer than the deadline before its work begins.
enum class LateFrames : std::uint8_t { Pass, Drop };

struct FilterSettings {
  std::string config;
  std::string load;                ///< paths of extensions with ':' between them; empty: none
  std::optional<Backend> backend;  ///< none: as the configuration says
  bool overlay = true;
  std::string classes;   ///< names with commas between them; empty: all
  guint slots = 0;       ///< frames in work at once; 0: as the configuration says
  guint64 deadline = 0;  ///< ns; 0: as the configuration says
  LateFrames late_frames = LateFrames::Pass;
  bool regions = true;                ///< whether a region of interest is attached for each contour
  guint64 maps_timeout = GST_SECOND;  ///< ns that a frame waits for its maps
  MissingMaps maps_missing = MissingMaps::Pass;
  GQuark maps_tensor = 0;  ///< the tensor on buffers that has the maps, without the pad of the maps; 0: none
  guint64 stats_interval = 0;  ///< ns; 0: none
};

class Filter {
 public:
  explicit Filter(GstElement* element)
      : element_(element), nodes_changed_(std::make_shared<std::atomic<bool>>(false)), queue_(accounts_) {}
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
  /// Sets the paths of extensions, and loads the configuration anew, with what they add.
  void set_load(const char* paths);
  const Accounts& accounts() const { return accounts_; }

  guint node_count() const;
  GObject* node(guint index) const;              ///< a new reference, or null
  GObject* node(const std::string& name) const;  ///< the same by name: a new reference, or null

  /// Throws what is wrong with the configuration.
  void start();
  void stop();
  void set_format(const GstVideoInfo& info, bool on_device);
  /// Whether the graph may run on CUDA here, as far as is known, so that frames may lie on the device.
  bool takes_device_memory() const;
  /// Whether it does run on CUDA now.
  bool runs_on_device() const { return run_ && run_->backend() == Backend::Cuda; }
  /// Whether an error was posted since the element was started.
  std::atomic<bool>& error_posted() { return error_posted_; }
  void note_arrival() { accounts_.add(Accounts::Count::In); }
  /// A frame that was dropped before it came in.
  void note_drop();
  /// Takes the reference to a buffer, whose work then goes on in other threads. Waits while all slots are
  /// taken, and for the buffer's maps. A frame that cannot be processed goes on as it is.
  GstFlowReturn take_in(GstBuffer* buffer);
  /// Waits for the work on the first frame, and hands it to `push`. False: nothing more will go on, until
  /// there was a flush.
  bool push_first(const std::function<GstFlowReturn(GstBuffer*)>& push);
  /// No more frames come, and all have gone on: objects that are still there have records now.
  void end_stream();
  FrameQueue& queue() { return queue_; }
  /// How much later than it came a frame may go on while the element keeps up: a frame's time for each slot
  /// but one. 0 while that is not known.
  GstClockTime latency() const { return latency_; }

  /// The pad of the maps, when there is one; null without.
  std::shared_ptr<MapsInput> maps() const;
  void add_maps();
  void remove_maps();

 private:
  void load();
  template <class Change>
  void reload(const Change& change);
  void replace_nodes(const GraphSpec& graph);
  void prepare(GstClockTime running_time, bool with_maps);
  void run(FrameGraph graph);
  void end_run();
  FrameAccess::Place place_of_frames(Backend backend) const;
  void tell_latency(int slots);
  StreamFormat stream_format() const;
  std::int64_t deadline_ns(const GraphSpec& graph) const;
  /// Where maps come from.
  struct MapsSource {
    std::shared_ptr<MapsInput> pad;  ///< outranks the tensor
    GQuark tensor = 0;
    std::size_t classes = 0;  ///< number of classes of the graph
    bool exists() const { return pad != nullptr || tensor != 0; }
  };
  MapsSource maps_source() const;
  void check_maps_source() const;
  void take_maps(const MapsSource& from, PassingFrame& frame);
  bool take_missing(const MapsSource& from, PassingFrame& frame);
  GstClockTime stream_time(GstBuffer* buffer) const;
  void note_fields(const PassingFrame& frame);
  void report_frame(const PassingFrame& frame, const char* what, const std::string& reason);
  void report_object(const ObjectRecord& record, const std::string& called, const std::string& line);
  void end_broken();
  void report_statistics();

  GstElement* const element_;
  /// Held while a configuration is loaded and until it is taken; who is told of its nodes may load another.
  std::recursive_mutex load_mutex_;
  mutable std::mutex mutex_;  // guards settings_ to maps_
  FilterSettings settings_;
  std::optional<GraphSpec> loaded_;
  std::vector<GstObject*> nodes_;
  std::shared_ptr<MapsInput> maps_;
  std::atomic<bool> changed_ = true;
  ChangeFlag nodes_changed_;
  Accounts accounts_;
  std::atomic<bool> error_posted_ = false;

  // Used by the streaming thread alone:
  FilterSettings used_;
  std::optional<GstVideoInfo> info_;
  bool on_device_ = false;                  // where frames lie
  std::optional<ImageFormat> maps_format_;  // format of the maps that the graph is planned for
  std::unique_ptr<FrameAccess> access_;
  std::uint64_t frame_ = 0;
  bool after_gap_ = false;    // the last frame was dropped
  bool told_fields_ = false;  // a message has said that frames have two fields

  std::int64_t last_report_ns_ = 0;  // used by the thread of the source pad
  std::atomic<GstClockTime> latency_ = 0;
  FrameQueue queue_;
  std::unique_ptr<SlotRun> run_;  // last: its threads use the others
};

}  // namespace contorno::gst
