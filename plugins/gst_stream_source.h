// The Source behind video, camera and test: a pipeline that is built again for every round of a loop and for
// every reconnection, so there is one way to start and no half-reset state. The pipeline and its frames
// belong to the reading thread; only `cancelled_` and the wait for a reconnection are shared with cancel().
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/source.h"
#include "plugins/gst_pipeline.h"

namespace contorno::gst {

/// What makes one kind of stream.
struct StreamPlan {
  std::function<void(FramePipeline&)> build;  ///< adds the elements
  std::string subject;                        ///< begins every error sentence: "clip.mp4"
  std::string description;                    ///< begins the line for reports: "video clip.mp4"
  int timeout_ms = 0;                         ///< longest wait for a frame; 0: for ever
  std::int64_t start = 0;                     ///< frames left out at the beginning
  std::int64_t limit = 0;                     ///< most frames delivered; 0: all
  bool loop = false;
  int reconnect_attempts = 0;     ///< after a failure of a stream that had been open
  std::int64_t frame_count = -1;  ///< of one round, when it is known beforehand
};

class StreamSource : public Source {
 public:
  explicit StreamSource(StreamPlan plan);
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override;
  void cancel() override;

 private:
  enum class Next : std::uint8_t { Frame, End, Bad };

  FramePipeline::Pulled open();
  /// Makes `sample_` the next frame, through loops and reconnections; fills `error` with Bad.
  Next advance(std::string& error);
  bool reconnect();
  bool wait_before_attempt(int attempt);
  void describe_stream();
  std::int64_t step_ns() const;
  std::int64_t pts_of(GstSample* sample);
  std::string timeout_sentence() const;

  StreamPlan plan_;
  StreamFormat format_;
  std::unique_ptr<FramePipeline> pipeline_;
  Owned<GstSample> sample_;  // pulled, not yet delivered
  std::int64_t delivered_ = 0;
  std::int64_t round_offset_ns_ = 0, last_pts_ns_ = -1;
  bool ended_ = false;

  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace contorno::gst
