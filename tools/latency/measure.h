// Runs a graph on frames that are due at given times, on one or several cameras at once, and notes what
// happened to every frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/runner.h"
#include "tools/latency/records.h"
#include "tools/latency/schedule.h"
#include "tools/latency/timed_source.h"

namespace contorno::latency {

enum class Loop : std::uint8_t { Open, Closed };

/// What is measured with. The graph is bound to its source.
struct Bench {
  const GraphSpec& graph;
  BackendChoice backend;
  const HeldFrames* held = nullptr;  ///< null: frames come from `source`, of one camera only
  Source* source = nullptr;
  bool with_sinks = true;     ///< false: results are brought to the host, and no more
  std::string output_folder;  ///< of sinks
  bool quiet = false;
  std::string graph_name;  ///< its file, which no sink may write
  /// Allocations of the process so far. Where it is given, those of a closed loop are counted.
  std::uint64_t (*allocations)() = nullptr;
};

/// The load of one measurement.
struct Load {
  Loop loop = Loop::Open;
  double rate = 0;  ///< frames a second of each camera; 0: of a closed loop, as fast as it goes
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

struct CameraRun {
  FrameRecords records;
  std::size_t offered = 0;  ///< rows that are used
  RunReport report;
  FrameAllocations allocations;
};

struct Measurement {
  Load load;
  std::size_t warm_up_frames = 0;  ///< of each camera, left out
  std::int64_t start_ns = 0;       ///< when the first frame was due
  std::vector<CameraRun> cameras;
  Resources resources;
  SlotMemory slot;  ///< of one slot
  int slots = 0;    ///< of each camera
  int signal = 0;   ///< the signal that ended it early; 0: none
};

/// Throws as Runner does. Where the device hangs, the process ends with exit code 70, as in run_watched.
Measurement measure(const Bench& bench, const Load& load);

}  // namespace contorno::latency
