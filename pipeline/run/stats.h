// What a run has to say for itself: counts that add up, latencies, points and contours per class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/sink.h"
#include "pipeline/graph/source.h"
#include "pipeline/graph/stage.h"
#include "pipeline/run/histogram.h"
#include "pipeline/value/objects.h"

namespace contorno {

/// offered = delivered + failed + all kinds of dropped, always, when a run is over.
struct FrameCounts {
  std::uint64_t offered = 0;            ///< frames that the source produced, usable or not
  std::uint64_t delivered = 0;          ///< handed to the sinks, which are done with them
  std::uint64_t failed = 0;             ///< unusable input, or a stage refused the frame
  std::uint64_t dropped_ring_full = 0;  ///< no free slot
  std::uint64_t dropped_deadline = 0;   ///< waited longer than the deadline
  std::uint64_t dropped_thinned = 0;    ///< left out, where the run did with less
  std::uint64_t dropped_aborted = 0;    ///< under way when the run was aborted
  std::uint64_t late = 0;               ///< delivered, but behind the deadline
  std::uint64_t regrown = 0;            ///< launched again with more capacity

  std::uint64_t dropped() const {
    return dropped_ring_full + dropped_deadline + dropped_thinned + dropped_aborted;
  }
  FrameCounts& operator+=(const FrameCounts& other) {
    offered += other.offered, delivered += other.delivered, failed += other.failed;
    dropped_ring_full += other.dropped_ring_full, dropped_deadline += other.dropped_deadline;
    dropped_thinned += other.dropped_thinned, dropped_aborted += other.dropped_aborted;
    late += other.late, regrown += other.regrown;
    return *this;
  }
};

/// Least and greatest sample that was seen of a class's map, in the scale in which levels are given.
struct MapRange {
  double least = 0, greatest = 0;
  ElementType type = ElementType::F32;
};

struct ClassCounts {
  std::string name;
  std::uint64_t points = 0, contours = 0;
  std::uint64_t frames = 0;  ///< frames with at least one contour of the class
  std::optional<double> level =
      std::nullopt;  ///< the lowest of a class whose contours are missed if there are none
  std::optional<MapRange> range = std::nullopt;  ///< samples of a class without a contour, if looked for
};

/// What a stage that follows objects has counted of each class, up to the last frame that was delivered.
struct StageTracks {
  std::string stage;  ///< the node's name
  std::vector<TrackCounts> classes;
};

/// Latency of one part of a frame's way.
struct Timing {
  std::string name;
  Histogram histogram;
};

/// How many results a level of quality has given.
struct LevelCount {
  std::string name;  ///< "full", or the last step of the level: "overlay", "mip", "thin"
  std::uint64_t frames = 0;
};

struct FrameFailure {
  std::uint64_t frame = 0;
  std::string reason;
};

/// What became of a sink. Every result is in one of its counts, when a run is over.
struct SinkOutcome {
  std::string name, summary, error;  ///< error is empty when all went well
  ExitCode code = ExitCode::Ok;      ///< of the error
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;        ///< its `on_full` says that it may lose frames, and it was behind
  std::uint64_t missed = 0;         ///< frames that it did not get, since it had broken
  Histogram queued;                 ///< time from the result being handed on to the sink turning to it
  Histogram writing;                ///< the sink's own work
  Histogram end_to_end;             ///< time from the frame's arrival to the sink being done with it
  std::vector<ClassTotals> totals;  ///< of a sink that adds up
};

struct RunReport {
  Backend backend = Backend::Cpu;  ///< the backend that really ran
  std::string backend_reason;      ///< why Auto did not become Cuda; empty where it did or nobody asked
  bool fell_back = false;          ///< a device was asked for, and was not there: backend_reason says why
  int device = 0;                  ///< number of the device, with Backend::Cuda
  std::string source;              ///< StreamFormat::description
  FrameCounts frames;
  double wall_seconds = 0;
  bool live = false;       ///< frames came at their times, whether or not somebody waited for them
  double source_rate = 0;  ///< frames a second that the source declares; 0 = unknown
  double input_rate = 0;   ///< frames a second that came; 0 = fewer than two came
  double deadline_ms = 0;  ///< of the graph; 0 = none
  std::uint64_t bytes_per_slot = 0;
  int slots = 0, threads = 1;
  OnFull on_full = OnFull::Wait;  ///< the policy that really applied
  /// From the frame's arrival (the source handed it over) to its result being complete, before any sink.
  Histogram end_to_end;
  std::vector<Timing> parts;  ///< "queue", "upload", part_names of the graph, "download"
  std::vector<ClassCounts> classes;
  std::vector<StageTracks> tracks;     ///< of the stages that follow objects, in the graph's order
  std::vector<ObjectTotals> objects;   ///< of the stages that make records of objects, likewise
  std::vector<LevelCount> levels;      ///< of quality, level 0 first; empty: the run had no other
  std::vector<FrameFailure> failures;  ///< the first kMaxFailures
  std::vector<SourceFault> source_faults;
  std::uint64_t source_reconnections = 0;  ///< see Source::reconnections
  std::vector<SinkOutcome> sinks;
  bool interrupted = false;

  static constexpr std::size_t kMaxFailures = 100;
  /// Whether the pipeline kept up: nothing was dropped for want of time, nothing was late. Not known where
  /// all was in time, but a live source was itself too slow to test the rate that it declares.
  std::optional<bool> held() const {
    if (frames.dropped_ring_full > 0 || frames.dropped_deadline > 0 || frames.dropped_thinned > 0 ||
        frames.late > 0)
      return false;
    constexpr double kJitter = 0.9;
    if (live && input_rate > 0 && input_rate < kJitter * source_rate) return std::nullopt;
    return true;
  }
  double rate() const { return wall_seconds > 0 ? static_cast<double>(frames.delivered) / wall_seconds : 0; }
};

}  // namespace contorno
