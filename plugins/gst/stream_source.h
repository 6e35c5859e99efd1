// The Source behind video, camera and test: a pipeline that is built again for every round of a loop and for
// every reconnection, so there is one way to start and no half-reset state. The pipeline and its frames
// belong to the reading thread; only the Pacer is shared with cancel().
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pipeline/graph/source.h"
#include "plugins/files/video/facts.h"
#include "plugins/gst/decoding_audit.h"
#include "plugins/gst/pipeline.h"
#include "plugins/shared/playback.h"

namespace contorno::gst {

/// How the sources video, camera and test differ.
struct StreamPlan {
  std::function<void(FramePipeline&)> build;  ///< adds the elements
  std::string subject;                        ///< begins every error sentence: "clip.mp4"
  std::string description;                    ///< begins the line for reports: "video clip.mp4"
  int timeout_ms = 0;                         ///< longest wait for a frame; 0: for ever
  Playback playback;       ///< which frames of a recording come, and whether at their times
  std::int64_t limit = 0;  ///< most frames delivered; 0: all
  bool loop = false;
  /// Most, each time that a stream that had been open fails; kReconnectForEver: no end.
  int reconnect_attempts = 0;
  std::int64_t frame_count = -1;  ///< frames of one round, when known beforehand
  std::string file;               ///< the local file that it comes from, if any
};

class StreamSource : public Source {
 public:
  explicit StreamSource(StreamPlan plan);
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override;
  std::vector<SourceFault> faults() const override;
  std::uint64_t reconnections() const override { return reconnects_; }
  void cancel() override { pacer_.cancel(); }

 private:
  enum class Next : std::uint8_t { Frame, End };

  FramePipeline::Pulled open(std::int64_t left_out);
  /// The next frame that is wanted, after `left_out` that are not.
  FramePipeline::Pulled pull(std::int64_t left_out);
  /// Makes `sample_` the next frame, through loops and reconnections.
  Next advance();
  /// A round is over, by `error` when that is not empty: notes what did not come.
  void judge_round(const std::string& error);
  bool note_frame(GstSample* sample);
  void set_rate();
  std::int64_t announced() const;
  std::int64_t length_ns() const;
  bool ends_early() const;
  /// Opens the stream again after it was lost for this reason. False: it stays away.
  bool reconnect(const std::string& reason);
  bool wait_before_attempt(int attempt);
  bool note_pixels();
  void note_peculiarities();
  void describe_stream();
  void describe();
  std::int64_t step_ns() const;
  std::int64_t next_pts();
  std::string timeout_sentence() const;

  StreamPlan plan_;
  StreamFormat format_;
  ContainerFacts facts_;
  std::unique_ptr<DecodingAudit> audit_;  // of pipeline_
  std::unique_ptr<FramePipeline> pipeline_;
  std::string deep_codec_;          // libav's, of what the module deep decodes
  std::int64_t came_ = 0;           // frames out of pipeline_, wanted or not
  std::int64_t hidden_ = 0;         // beside them, those that the edit list of the file leaves out
  std::int64_t last_came_ns_ = -1;  // the time of the last of them, which is sample_ where there is one
  std::int64_t duration_ns_ = -1;
  std::int64_t lead_ns_ = 0;  // by which the container's own times are ahead of those of the stream
  double recorded_rate_ = 0;
  std::string peculiar_;                   // what is unusual about its pictures, for the description
  std::int64_t damaged_ = 0, strays_ = 0;  // delivered frames that the decoder or the audit marked
  std::string damage_, stray_;             // why the first such frame was marked, where that is known
  std::optional<SourceFault> fault_;       // fault of the first round that had one
  Owned<GstSample> sample_;                // pulled, not yet delivered
  std::int64_t delivered_ = 0;
  std::int64_t round_offset_ns_ = 0, last_pts_ns_ = -1;
  std::uint64_t reconnects_ = 0;
  std::string remark_;  // the warning that the next first frame of a connection carries
  bool ended_ = false;
  bool paced_ = false;  // a recording that waits for its times
  Pacer pacer_;
};

}  // namespace contorno::gst
