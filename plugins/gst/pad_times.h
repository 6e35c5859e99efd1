// What one pad of a pipeline notes of the buffers that pass it: their times, and of a sink's input how long
// the sink keeps each. Only plugins/gst includes this.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "plugins/gst/elements.h"
#include "plugins/media/timed_pipeline.h"

namespace contorno::gst {

/// Written by the thread that brings the pad's buffers; read by any. Stays where it is, and as long as that
/// thread, since the pad has its address.
class PadTimes {
 public:
  /// Watches `pad` from now on, before buffers pass it. A sink's input tells how long buffers are kept.
  explicit PadTimes(GstPad* pad);
  ~PadTimes();
  PadTimes(const PadTimes&) = delete;
  PadTimes& operator=(const PadTimes&) = delete;

  GstPad* pad() const { return pad_.get(); }
  /// When the buffer came that a sink has not given back yet, as now_ns(); 0: it has none.
  std::int64_t held_since_ns() const { return held_since_ns_; }
  /// Moves what was noted to `place`; from then on nothing is noted.
  void end(PassedElement& place);

 private:
  static GstPadProbeReturn note_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer);
  static GstFlowReturn chain_list(GstPad* pad, GstObject* parent, GstBufferList* buffers);
  template <class Work>
  static GstFlowReturn timed(GstPad* pad, const Work& work);

  Owned<GstPad> pad_;
  std::mutex mutex_;  // guards ended_ to kept_
  bool ended_ = false;
  std::vector<Passing> passings_;
  std::vector<KeptBuffer> kept_;
  std::atomic<std::int64_t> held_since_ns_ = 0;
  GstPadChainFunction chain_ = nullptr;  // the element's own, of a sink's input
  GstPadChainListFunction chain_list_ = nullptr;
};

/// Frames a second of the pad's caps; 0 where they are not known or vary.
double rate_of(GstPad* pad);

}  // namespace contorno::gst
