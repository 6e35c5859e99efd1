// Runs a graph on frames that are due at given times, on one or several cameras at once, and notes what
// happened to every frame.
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

enum class Loop : std::uint8_t { Open, Closed };

/// A camera to measure: a graph that is bound to its source, and its frames.
struct BenchCamera {
  const GraphSpec* graph;
  BackendChoice backend;
  const HeldFrames* held = nullptr;  ///< null: frames come from `source`, of one camera only
  Source* source = nullptr;
  double rate = 0;         ///< frames a second; 0: that of the load
  double deadline_ms = 0;  ///< 0: that of the settings
};

/// What is measured with.
struct Bench {
  /// One, of which there are as many as the load says; or all of `fleet`, in its order.
  std::vector<BenchCamera> cameras;
  const FleetSpec* fleet = nullptr;  ///< of a graph with `sources:`; null: one with `source:`
  bool with_sinks = true;            ///< false: results are brought to the host, and no more
  std::string output_folder;         ///< of sinks
  bool quiet = false;
  std::string graph_name;  ///< its file, which no sink may write
  /// Allocations of the process so far. Where it is given, those of a closed loop are counted.
  std::uint64_t (*allocations)() = nullptr;

  /// All cameras have the same stages and sinks.
  const GraphSpec& graph() const { return *cameras.front().graph; }
  /// What a camera of the measurement is measured with; they are numbered from 0.
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

/// Frames and time that a measurement leaves out at its beginning, whichever is longer: contexts are made,
/// code is compiled, memory is touched and clocks rise.
inline constexpr std::size_t kWarmUpFrames = 30;

/// What the process used while it measured, warm-up left out.
struct Resources {
  double wall_s = 0, cpu_s = 0;
  std::int64_t heap_growth_bytes = 0;  ///< growth of what malloc has handed out
  std::int64_t minor_faults = 0, major_faults = 0, involuntary_switches = 0;
  std::int64_t resident_begin_bytes = 0, resident_end_bytes = 0;
};

/// What slots take.
struct Memory {
  std::uint64_t slots = 0;
  std::uint64_t host = 0, pinned = 0, device = 0;  ///< bytes of all of them together
};

struct CameraRun {
  FrameRecords records;
  std::size_t offered = 0;         ///< rows that are used
  std::size_t warm_up_frames = 0;  ///< left out
  RunReport report;
  FrameAllocations allocations;
  std::string name;        ///< in `sources:`; empty: of a graph with `source:`
  double rate = 0;         ///< frames a second
  double deadline_ms = 0;  ///< 0: that of the settings
};

struct Measurement {
  Load load;
  std::int64_t start_ns = 0;  ///< when the first frame was due
  std::vector<CameraRun> cameras;
  Resources resources;
  Memory memory;   ///< of the slots of all cameras
  int signal = 0;  ///< the signal that ended it early; 0: none
};

/// Throws as Runner does. Where the device hangs, the process ends with exit code 70, as in run_watched.
Measurement measure(const Bench& bench, const Load& load);

}  // namespace contorno::latency
