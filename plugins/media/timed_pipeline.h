// A pipeline of GStreamer with the element `contorno` in it, run as it is, and when its buffers passed each
// element on their way. No GStreamer type appears here. A TimedPipeline belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contorno {

/// A buffer at one place: its presentation time, and the now_ns() when it was there.
struct Passing {
  std::int64_t pts_ns = 0, at_ns = 0;
};

/// How long a sink kept a buffer, or a list of them: until it had written it, or its time had come. now_ns()
/// values.
struct KeptBuffer {
  std::int64_t from_ns = 0, to_ns = 0;
};

/// What passed one place; in the order in which it came.
struct PassedElement {
  std::string name;  ///< "vp8dec0"
  std::vector<Passing> passings;
  double rate = 0;                 ///< frames a second, as the caps say; 0: they do not
  std::vector<KeptBuffer> kept;    ///< buffers that a sink kept
  std::int64_t held_since_ns = 0;  ///< when a buffer came that a sink still had at the end; 0: it had none
};

/// What one of GStreamer's own tracers said.
struct TracedTime {
  std::string what;          ///< "videotestsrc0 to fakesink0", "contorno0"
  std::int64_t at_ns = 0;    ///< now_ns() when it was said
  std::int64_t time_ns = 0;  ///< how long it took
};

struct PipelineTimes {
  bool live = false;
  std::vector<PassedElement> way;    ///< buffers as they leave the elements up to `contorno`, the last
  std::vector<PassedElement> sinks;  ///< buffers as they come to the sinks behind it
  /// A camera took a buffer of a live pipeline at its pts + this, on the clock of now_ns(). 0: not known.
  std::int64_t stamp_offset_ns = 0;
  /// When it was ended; 0: it had come to its end by itself.
  std::int64_t stopped_ns = 0;
  std::vector<TracedTime> traced;  ///< by the tracer `latency`, of the pipeline and of elements
};

class TimedPipeline {
 public:
  virtual ~TimedPipeline() = default;
  /// Throws what ended it, as Error; true when it came to its end by itself.
  virtual bool ended() = 0;
  /// Ends it, and gives what was noted. Called once; ended() may not be called after it.
  virtual PipelineTimes stop() = 0;
};

}  // namespace contorno
