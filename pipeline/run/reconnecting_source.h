// A live source that is opened again whenever it is lost: after an error, at its end, or when it falls silent
// and `give_up_connection` says so. It tries for ever (BackOff). Frames of the runner keep their numbers, and
// times go on by the true gap. A source that is not live, or that says how many frames it has, ends when it
// ends. May also hold a source back to a rate.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/graph/source.h"
#include "pipeline/run/back_off.h"
#include "pipeline/run/opening.h"

namespace contorno {

/// The time of a source, which a test can make up. `sleep` and `cancel` may be called at the same time.
class SourceTime {
 public:
  virtual ~SourceTime() = default;
  virtual std::int64_t now() const = 0;  ///< the time, as now_ns() has it
  /// False: cancelled.
  virtual bool sleep(std::int64_t ns) = 0;
  /// Ends every sleep, and every later one.
  virtual void cancel() = 0;
};
std::unique_ptr<SourceTime> real_source_time();

/// Lets a reader sleep where frames come faster than they should: one after the other no closer than the
/// interval, but for `kBurst` that have been saved up.
class RateLimit {
 public:
  /// `rate` frames a second; 0: any.
  explicit RateLimit(double rate) : interval_(rate > 0 ? static_cast<std::int64_t>(1e9 / rate) : 0) {}
  /// How long to wait before the frame that could be read at `now`; nanoseconds.
  std::int64_t wait_before(std::int64_t now) {
    if (interval_ == 0) return 0;
    due_ = std::max(due_, now - kBurst * interval_) + interval_;
    return std::max<std::int64_t>(0, due_ - now - interval_);
  }

 private:
  static constexpr std::int64_t kBurst = 4;
  std::int64_t interval_, due_ = 0;
};

class ReconnectingSource final : public Source {
 public:
  struct Options {
    BackOff::Limits back_off{};
    double max_rate = 0;  ///< see CameraSettings
    std::uint32_t seed = 1;
  };
  /// `first` is open. What `open` uses must outlive the source.
  ReconnectingSource(std::unique_ptr<Source> first, OpenSource open, const Options& options,
                     std::unique_ptr<SourceTime> time = real_source_time());

  const StreamFormat& format() const override { return format_; }
  void expect_classes(int classes) override { source_->expect_classes(classes); }
  ReadResult read(FrameInput& input) override;
  std::vector<SourceFault> faults() const override;
  std::uint64_t reconnections() const override { return reconnections_; }
  void cancel() override;
  std::vector<std::string> files() const override {
    const std::shared_ptr<Source> source = current();
    return source == nullptr ? std::vector<std::string>() : source->files();
  }

  /// Whether it is being opened again. From any thread, as give_up_connection.
  bool is_away() const { return away_; }
  /// Since when it has been there, first or again, as now_ns() value.
  std::int64_t there_since() const { return since_; }
  /// Ends the connection that there is, for example because no frame has come for long: a `read` that blocks
  /// comes back as soon as the source can, and opens it again.
  void give_up_connection();

 private:
  bool is_endless() const { return format_.live && format_.frame_count < 0; }
  ReadResult read_once(FrameInput& input, std::string& lost);
  bool reopen();
  void note_frame(FrameInput& input);
  std::shared_ptr<Source> current() const;

  OpenSource open_;
  std::unique_ptr<SourceTime> time_;
  BackOff back_off_;
  RateLimit limit_;
  StreamFormat format_;
  mutable std::mutex mutex_;        // guards source_, and is held for no call into it
  std::shared_ptr<Source> source_;  // replaced by the reader alone
  std::vector<SourceFault> faults_;
  std::atomic<std::uint64_t> reconnections_ = 0;
  std::string remark_;  // the warning that the next frame carries
  std::int64_t offset_ns_ = 0, last_pts_ns_ = -1, last_came_ns_ = 0;
  bool is_first_ = false;  // the next frame is the first of a connection
  std::atomic<std::int64_t> since_;
  std::atomic<bool> cancelled_ = false, away_ = false;
};

}  // namespace contorno
