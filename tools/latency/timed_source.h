// The source of a measurement: frames of the graph's own source, delivered at the times of a schedule. A
// frame is brought into the slot before it is due, as a camera's driver would; the slot gets it at its time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "pipeline/graph/source.h"
#include "pipeline/run/stats.h"
#include "plugins/shared/playback.h"
#include "tools/latency/records.h"

namespace contorno::latency {

/// The first frames of a source, held in memory. Several cameras read them at the same time.
class HeldFrames {
 public:
  /// Reads at most `most` frames, and at most about `most_bytes`. Ends earlier where the source ends, or
  /// changes its format. Throws Error(BadData) when it has none.
  HeldFrames(Source& source, std::size_t most, std::size_t most_bytes);

  std::size_t size() const { return frames_.size(); }
  const StreamFormat& format() const { return format_; }
  /// The checksum of all samples of the frames.
  std::uint32_t checksum() const;
  /// Writes one of them into a slot.
  ReadResult copy(std::size_t index, FrameInput& to) const;

 private:
  struct Frame {
    Block memory;
    FrameInput input;
    ReadResult result = ReadResult::Frame;
  };
  StreamFormat format_;
  std::vector<Frame> frames_;
};

/// Allocations of the whole process while frames went through a graph one at a time.
struct FrameAllocations {
  std::uint64_t frames = 0;  ///< 0: they were not counted
  std::uint64_t count = 0;
};

/// How frames are delivered. With a schedule the loop is open. Without one it is closed: a frame is due once
/// the one before is done, and `interval_ns` after that one at the earliest.
struct Delivery {
  std::vector<std::int64_t> schedule;
  std::int64_t interval_ns = 0;
  double rate = 0;  ///< frames a second that the format declares; 0 = unknown
  /// How long a closed loop lasts: there are no more frames when so much time has passed since the first one
  /// behind the warm-up was due, however long that took. 0: until the records are full.
  std::int64_t duration_ns = 0;
  std::int64_t warm_up_ns = 0;               ///< least warm-up of a closed loop, from the first frame on
  std::size_t first_counted = 0;             ///< from this frame on frames, and allocations, are counted
  std::uint64_t (*allocations)() = nullptr;  ///< of the process so far, in a closed loop; null: not counted
};

class TimedSource final : public Source {
 public:
  /// Frames come from `held`, again and again, or where it is null from `source`. Everything is borrowed;
  /// `records` gets when each frame was due, and has as many rows as there will be frames at most.
  TimedSource(const HeldFrames* held, Source* source, const Delivery& delivery, FrameRecords& records);

  /// Before the run: when the first frame is due, and how a closed loop learns how far the runner is.
  void start(std::int64_t start_ns, std::function<FrameCounts()> progress);
  /// Frames that were delivered. Called after the run.
  std::size_t offered() const { return next_; }
  /// Allocations that were counted while frames were on their way. Called after the run.
  FrameAllocations allocations() const { return counted_; }

  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override;
  std::vector<SourceFault> faults() const override;
  std::uint64_t reconnections() const override;
  void cancel() override;

 private:
  bool closed_loop() const { return delivery_.schedule.empty(); }
  void take_format();
  bool wait_for_idle();
  bool is_over(std::int64_t due_ns);
  void count_allocations();
  std::int64_t next_due();

  const HeldFrames* held_;
  Source* source_;
  const Delivery& delivery_;
  FrameRecords& records_;
  StreamFormat format_;
  std::function<FrameCounts()> progress_;
  std::int64_t start_ns_ = 0, last_due_ns_ = 0;
  std::optional<std::int64_t>
      counted_from_ns_;  // in a closed loop, when the first frame behind the warm-up was due
  std::size_t next_ = 0;
  FrameAllocations counted_;
  std::uint64_t allocations_at_first_ = 0;
  Pacer pacer_;
};

}  // namespace contorno::latency
