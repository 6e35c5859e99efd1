// Counts what goes into the video decoders of a pipeline, to compare it with the frames that come out: a
// decoder that cannot use a picture leaves it out and may say nothing. The counts are written by the threads
// of the pipeline, so the audit has to outlive it.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "plugins/gst_libav_log.h"
#include "plugins/gst_pipeline.h"

namespace contorno::gst {

class DecodingAudit {
 public:
  /// Watches every video decoder that `pipeline` makes from now on.
  void watch(FramePipeline& pipeline);
  /// Encoded pictures that should have become frames of the one stream that `pipeline` decodes; -1: nobody
  /// can tell.
  std::int64_t pictures(const FramePipeline& pipeline) const;

  /// What libav said about the pictures, where it decodes.
  const LibavLog& libav() const { return libav_; }

 private:
  struct Count {
    const GstElement* decoder = nullptr;  // never dereferenced
    std::atomic<std::int64_t> pictures = 0;
    // Of the streaming thread:
    GstClockTime first = GST_CLOCK_TIME_NONE;  // the presentation time of the first key frame
    GstClockTime before = GST_CLOCK_TIME_NONE;
    std::atomic<bool> began = false, countable = true;
  };

  static void on_element(GstBin* pipeline, GstBin* bin, GstElement* element, gpointer audit);
  static GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer count);
  const Count* count_of(const FramePipeline& pipeline) const;

  mutable std::mutex mutex_;
  std::deque<Count> counts_;  // addresses stay
  LibavLog libav_;
};

}  // namespace contorno::gst
