// What is noted of every frame of a measurement: when it was due, when each part of its way ended, and what
// became of it. All memory is taken beforehand, so that noting allocates nothing. A row is written by the
// reader, the finisher and the sinks of a runner, each its own columns, and read when the run is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contorno::latency {

/// NotSent: a live source owed it, and was held up.
enum class Outcome : std::uint8_t { NotOffered, UnderWay, Delivered, Failed, RingFull, Deadline, NotSent };

/// The columns of a row, all now_ns() values. 0 stands for what did not happen, and from kStarted to
/// downloaded() for what was not timed.
struct Columns {
  std::size_t parts = 0, sinks = 0;  ///< parts of all stages, see part_names

  static constexpr std::size_t kDue = 0, kArrived = 1, kLaunched = 2, kStarted = 3, kUploaded = 4;
  std::size_t part_end(std::size_t part) const { return kUploaded + 1 + part; }
  std::size_t downloaded() const { return part_end(parts); }
  std::size_t finished() const { return downloaded() + 1; }
  std::size_t sink_start(std::size_t sink) const { return finished() + 1 + 2 * sink; }
  std::size_t sink_end(std::size_t sink) const { return sink_start(sink) + 1; }
  std::size_t count() const { return sink_start(sinks); }
};

class FrameRecords {
 public:
  FrameRecords(std::size_t frames, const Columns& columns)
      : columns_(columns), times_(frames * columns.count()), outcomes_(frames) {}

  std::size_t size() const { return outcomes_.size(); }
  const Columns& columns() const { return columns_; }
  std::int64_t& time(std::size_t frame, std::size_t column) {
    return times_[frame * columns_.count() + column];
  }
  std::int64_t time(std::size_t frame, std::size_t column) const {
    return times_[frame * columns_.count() + column];
  }
  /// Whether the parts of a delivered frame were timed one by one.
  bool probed(std::size_t frame) const { return time(frame, Columns::kStarted) != 0; }
  Outcome& outcome(std::size_t frame) { return outcomes_[frame]; }
  Outcome outcome(std::size_t frame) const { return outcomes_[frame]; }

 private:
  Columns columns_;
  std::vector<std::int64_t> times_;
  std::vector<Outcome> outcomes_;
};

}  // namespace contorno::latency
