// Runs a graph on frames that are due at given times, on one or several cameras at once, and records the
// times and the outcome of every frame (FrameRecords).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/camera_spec.h"
#include "pipeline/run/runner.h"
#include "tools/latency/records.h"
#include "tools/latency/schedule.h"
#include "tools/latency/timed_source.h"

namespace contorno::latency {

/// Open: frames are due at times that are fixed beforehand, however slow the graph is. Closed: a frame is due
/// when the one before is done, one at a time.
enum class Loop : std::uint8_t { Open, Closed };

/// A camera to measure. Everything is borrowed and outlives measure().
struct BenchCamera {
  const GraphSpec* graph;  ///< bound to its source
  BackendChoice backend;
  const HeldFrames* held = nullptr;  ///< frames in memory, given in turn
  Source* source = nullptr;          ///< where `held` is null, which only a lone camera may have
  double rate = 0;                   ///< frames a second; 0: Load::rate
  double deadline_ms = 0;            ///< 0: Settings::deadline_ms
};

/// The system that is measured.
struct Bench {
  /// Never empty, and all with the same stages and sinks. Without `fleet` one, which runs Load::cameras times
  /// at once; with it one for each of its cameras, in its order, and Load::cameras is their number.
  std::vector<BenchCamera> cameras;
  const FleetSpec* fleet = nullptr;  ///< a graph with `sources:`, borrowed; null: one with `source:`
  bool with_sinks = true;            ///< false: results are brought to the host, and no more
  std::string output_folder;         ///< of sinks
  bool quiet = false;
  std::string graph_name;  ///< the graph's file, which is refused as the output of a sink
  /// Allocations of the process so far, from any thread. Where it is given those of a closed loop are
  /// counted, between whose frames nothing else is under way.
  std::uint64_t (*allocations)() = nullptr;

  /// The graph of the first camera, whose stages and sinks are those of all.
  const GraphSpec& graph() const { return *cameras.front().graph; }
  /// The entry of `cameras` for a camera of the measurement, which are numbered from 0.
  const BenchCamera& camera(std::size_t number) const { return cameras[fleet != nullptr ? number : 0]; }
};

/// The load of one measurement.
struct Load {
  Loop loop = Loop::Open;
  double rate = 0;  ///< frames a second of a camera without its own; 0: of a closed loop, as fast as it goes
  Arrival arrival;
  std::uint64_t seed = 1;
  double warm_up_s = 2;
  double duration_s = 60;  ///< after the warm-up
  int cameras = 1;
  std::uint64_t probe_every = kEveryFrame;  ///< frames whose parts are timed: see kNoFrame
};

/// The warm-up of each camera, which all figures leave out: so many frames, and Load::warm_up_s. Contexts are
/// made in it, code is compiled, memory is touched and clocks rise.
inline constexpr std::size_t kWarmUpFrames = 30;

/// What the process used while it measured, warm-up left out.
struct Resources {
  double wall_s = 0, cpu_s = 0;
  std::int64_t heap_growth_bytes = 0;  ///< growth of what malloc has handed out
  std::int64_t minor_faults = 0, major_faults = 0, involuntary_switches = 0;
  std::int64_t resident_begin_bytes = 0, resident_end_bytes = 0;
};

/// What the slots of all cameras take; a slot is the memory of one frame on its way.
struct Memory {
  std::uint64_t slots = 0;
  std::uint64_t host = 0, pinned = 0, device = 0;  ///< bytes; none is a part of another
};

struct CameraRun {
  FrameRecords records;
  std::size_t offered = 0;         ///< frames, the first rows of `records`, warm-up included
  std::size_t warm_up_frames = 0;  ///< the first of these, which figures leave out
  RunReport report;
  FrameAllocations allocations;
  std::string name;        ///< its name in `sources:`; empty: the graph has `source:`
  double rate = 0;         ///< frames a second
  double deadline_ms = 0;  ///< 0: Settings::deadline_ms
};

struct Measurement {
  Load load;
  std::int64_t start_ns = 0;  ///< when the first frame of the warm-up was due, of now_ns()
  std::vector<CameraRun> cameras;
  Resources resources;
  Memory memory;   ///< of the slots of all cameras
  int signal = 0;  ///< the signal that ended it early; 0: none
};

/// Throws what Runner throws, and Error(BadOption) where the records would take too much memory. Where the
/// device hangs the process ends with exit code 70 (watch_fleet), since what waits for a device cannot be
/// ended.
Measurement measure(const Bench& bench, const Load& load);

}  // namespace contorno::latency
