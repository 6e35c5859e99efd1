// What a latency measurement has to say. The table, the JSON file, the page and comparisons are all made of
// it, and it is read back from JSON (docs/reference/latency.md defines every figure).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/latency/distribution.h"
#include "tools/latency/measure.h"

namespace contorno::latency {

/// Pipeline: a pipeline of GStreamer, whose own source says when frames come.
enum class Mode : std::uint8_t { Stream, Single, Saturate, Cameras, Pipeline };
const char* name_of(Mode mode);
const char* name_of(Loop loop);

/// What ends the time that is compared with the deadline.
enum class Until : std::uint8_t { Result, Sinks };
const char* name_of(Until until);

/// What was asked for, and with what it was measured.
struct Settings {
  Mode mode = Mode::Stream;
  Loop loop = Loop::Open;
  double rate = 0;  ///< frames a second of each camera, their mean where they differ; 0: as fast as it goes
  std::string arrival = "fixed";
  std::uint64_t seed = 1;
  double duration_s = 0, warm_up_s = 0;
  std::uint64_t warm_up_frames = 0;  ///< of each camera, the most where they differ
  int cameras = 1, repeats = 1;
  std::uint64_t probe_every = kEveryFrame;  ///< frames whose parts are timed: see kNoFrame
  double deadline_ms = 0;                   ///< the shortest where those of cameras differ
  double hold_share = 0.999;                ///< of the frames that have to meet the deadline
  Until until = Until::Result;
  bool sinks = true;
  std::uint64_t held_frames = 0;  ///< frames of the source kept in memory; 0: each was read when needed
  std::string source, backend, backend_reason, on_full, graph_file, graph_text;
  std::vector<std::string> overrides;
  int threads = 0, slots = 0;
};

/// offered = delivered + dropped + failed + in flight, of the frames after the warm-up.
struct Tally {
  std::uint64_t offered = 0, delivered = 0, failed = 0, in_flight = 0;
  std::uint64_t ring_full = 0;         ///< dropped: no free slot
  std::uint64_t dropped_deadline = 0;  ///< dropped: waited longer than the graph's own deadline
  std::uint64_t not_sent = 0;          ///< dropped: owed by a live source that was held up
  std::uint64_t late = 0;              ///< delivered after the deadline
  std::uint64_t longest_run = 0;       ///< of misses one after the other, of one camera
  std::uint64_t probed = 0;            ///< delivered, and their parts were timed

  /// Adds the counts of another camera, repeat or report; the longest run of misses is that of one of them.
  void add(const Tally& other) {
    offered += other.offered;
    delivered += other.delivered;
    failed += other.failed;
    in_flight += other.in_flight;
    ring_full += other.ring_full;
    dropped_deadline += other.dropped_deadline;
    not_sent += other.not_sent;
    late += other.late;
    longest_run = std::max(longest_run, other.longest_run);
    probed += other.probed;
  }
  std::uint64_t dropped() const { return ring_full + dropped_deadline + not_sent; }
  /// Frames without a result.
  std::uint64_t missing() const { return dropped() + failed; }
  std::uint64_t misses() const { return late + missing(); }
  double misses_per_million() const {
    return offered > 0 ? static_cast<double>(misses()) * 1e6 / static_cast<double>(offered) : 0;
  }
};

/// Camera: from end to end, of one of `sources:`, up to what is compared with its deadline.
enum class RowKind : std::uint8_t { EndToEnd, Camera, Wait, Transfer, Stage, Sink, Interval, Traced };
const char* name_of(RowKind kind);
struct Row {
  RowKind kind = RowKind::EndToEnd;
  Distribution times;
};

/// A part of a frame's way on its time axis, which begins when the frame was due.
struct Span {
  std::string name;
  double begin_ms = 0, ms = 0;
  bool operator==(const Span&) const = default;
};

/// A frame that took long, with where its time went.
struct WorstFrame {
  int camera = 1;
  std::uint64_t frame = 0;
  double due_s = 0, total_ms = 0;
  bool probed = true;  ///< false: one part stands for all from its launch to its result
  std::vector<std::pair<std::string, double>> parts_ms;  ///< what the time is made of
  std::vector<Span> trace;  ///< these parts and those of all sinks; empty: the report is an older one
};

/// A piece of the time axis.
struct Bin {
  double begin_s = 0;
  double median_ms = 0, max_ms = 0;  ///< latency of frames that were due in it; 0: none was delivered
  std::uint64_t delivered = 0, missed = 0;
};

/// The figures of one repeat.
struct Repeat {
  double p50_ms = 0, p99_ms = 0, max_ms = 0, mean_ms = 0;
  bool knows_p99 = false;
  double misses_per_million = 0;
};

/// A camera of `sources:`, what it was measured at, and what became of its frames. Its times have a row.
struct CameraFigures {
  std::string name;
  double rate = 0, deadline_ms = 0;
  Tally frames;
};

/// One step of a search: with so many frames a second and cameras the deadline was held, or not.
struct Trial {
  double rate = 0;
  int cameras = 1;
  std::uint64_t offered = 0, misses = 0;
  double p50_ms = 0, max_ms = 0;
  bool held = false;
};

/// What the probes of the stages cost, from runs with all frames probed and with none in turns.
struct ProbeCost {
  int rounds = 0;  ///< 0: not measured
  double without_ms = 0, with_ms = 0;
  double least_percent = 0, median_percent = 0, most_percent = 0;  ///< of a frame that is probed
  std::uint64_t every = kEveryFrame;                               ///< frames that the measurement probed

  /// What probes cost of a frame on average, in per cent.
  double mean_percent() const { return median_percent / static_cast<double>(every); }
};

struct LatencyReport {
  Settings settings;
  std::vector<std::pair<std::string, std::string>> environment;
  Tally frames;                        ///< counts of the frames of all cameras
  std::vector<CameraFigures> cameras;  ///< empty: the graph has one source
  double first_frame_ms = 0;           ///< time of the first frame of the warm-up; 0: it had no result
  std::vector<Row> rows;  ///< "due to result", what else there is from end to end, then the parts
  std::vector<WorstFrame> worst;
  std::vector<WorstFrame> worst_probed;       ///< the slowest of the probed ones; empty where all were
  std::vector<std::uint64_t> missing_frames;  ///< the first of them that have no result
  std::vector<Bin> series;
  std::vector<Repeat> repeats;
  std::vector<Trial> trials;
  Resources resources;
  Memory memory;
  ProbeCost probe_cost;
  FrameAllocations allocations;
  std::uint64_t source_reconnections = 0;  ///< while frames were measured, warm-up included
  int merged = 1;                          ///< reports that it was put together from
  std::string held_up;  ///< what held the pipeline up at its end, as a sentence; empty: nothing did

  const Distribution* row(std::string_view name) const;
  /// The fact of `environment` with this name; null where there is none.
  const std::string* fact(std::string_view name) const;
  /// The frames of worst_probed that are not in `worst`.
  std::vector<WorstFrame> more_worst() const;
  /// The times that are compared with the deadline. Empty where no frame was delivered.
  const Distribution& counted() const;
};

/// The fact of the environment that tells the input by its checksum.
inline constexpr const char* kInput = "input";
/// The names of rows that others refer to.
inline constexpr const char* kDueToResult = "due to result";
inline constexpr const char* kDueToSinks = "due to end of sinks";
/// The name of the row with the times of a camera of `sources:`.
inline std::string row_of_camera(const std::string& name) {
  return "camera " + name;
}
/// Begins the name of the row that says how long a sink of a GStreamer pipeline keeps a frame.
inline constexpr std::string_view kInSink = "in sink ";

struct SummaryOptions {
  std::size_t worst = 5;
};
/// Puts repeats of one measurement together. `settings` says what was asked for; what the run decided is
/// filled in.
LatencyReport summarise(const GraphSpec& graph, Settings settings, const std::vector<Measurement>& repeats,
                        const SummaryOptions& options);

/// The names of the rows that a measurement of these cameras will have.
std::vector<std::string> row_names(const FleetSpec& fleet);

/// The merged report of measurements that may be put together: same load, graph, deadline. Throws
/// Error(BadOption) that says in what they differ.
void merge(LatencyReport& into, const LatencyReport& other);
/// "the input: CRC-32 ... and CRC-32 ..." where two measurements are known to be of other frames, else empty.
std::string difference_of_input(const LatencyReport& one, const LatencyReport& other);
/// In what the cameras of `sources:` differ; empty: in nothing.
std::string difference_of_cameras(const LatencyReport& one, const LatencyReport& other);
/// In what two measurements are no measurements of the same thing; empty: they may be compared.
std::string difference_of_load(const Settings& one, const Settings& other);

}  // namespace contorno::latency
