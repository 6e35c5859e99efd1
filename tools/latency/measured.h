// The frames of a measurement after its warm-up, and the parts that their way is cut into.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/latency/report.h"

namespace contorno::latency {

inline double ms(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-6;
}

/// A span of a frame's way, between two of its times.
struct Part {
  RowKind kind;
  std::string name;
  std::size_t from, to;
  bool after_result = false;
  bool unprobed = false;  ///< a part of frames that were not probed, which probes cut into parts
};

/// What a frame's way is cut into; up to the result the parts together are the whole time. Sinks work beside
/// each other.
Columns columns_of(const GraphSpec& graph);
std::vector<Part> parts_of(const GraphSpec& graph);

/// When a frame was in a part, as now_ns() values.
struct PartSpan {
  std::int64_t begin_ns, end_ns;
};
/// When the frame was in the part; nothing where it was not, or where the times are not known.
std::optional<PartSpan> span_of(const FrameRecords& records, std::size_t frame, const Part& part);

/// One camera's frames after the warm-up.
class Measured {
 public:
  Measured(const Measurement& measurement, const CameraRun& camera, int number)
      : measurement_(measurement), camera_(camera), number_(number) {}

  const FrameRecords& records() const { return camera_.records; }
  int number() const { return number_; }
  /// The name of a camera of `sources:`; else empty.
  const std::string& name() const { return camera_.name; }
  double rate() const { return camera_.rate; }
  template <class F>
  void each(const F& visit) const {
    const auto warm_ns = static_cast<std::int64_t>(measurement_.load.warm_up_s * 1e9);
    for (std::size_t frame = camera_.warm_up_frames; frame < camera_.offered; ++frame)
      if (measurement_.load.loop == Loop::Open || due_ns(frame) >= warm_ns) visit(frame);
  }
  /// When a frame was due, counted from when the first frame of the measurement was.
  std::int64_t due_ns(std::size_t frame) const {
    return records().time(frame, Columns::kDue) - measurement_.start_ns;
  }
  bool delivered(std::size_t frame) const { return records().outcome(frame) == Outcome::Delivered; }
  bool probed(std::size_t frame) const { return records().probed(frame); }
  std::int64_t to_result(std::size_t frame) const {
    return records().time(frame, records().columns().finished()) - records().time(frame, Columns::kDue);
  }
  /// The time from due to the end of the last sink, ns; nothing where one did not take the frame, or there is
  /// none.
  std::optional<std::int64_t> to_sinks(std::size_t frame) const {
    std::int64_t last = 0;
    for (std::size_t sink = 0; sink < records().columns().sinks; ++sink) {
      const std::int64_t end = records().time(frame, records().columns().sink_end(sink));
      if (end == 0) return std::nullopt;
      last = std::max(last, end);
    }
    if (last == 0) return std::nullopt;
    return last - records().time(frame, Columns::kDue);
  }
  /// Whether what counts came in time. A sink that left the frame out did not.
  bool in_time(std::size_t frame, const Settings& settings) const {
    if (settings.until == Until::Sinks && records().columns().sinks > 0 && !to_sinks(frame)) return false;
    return ms(counted(frame, settings.until)) <= deadline_ms(settings);
  }
  double deadline_ms(const Settings& settings) const {
    return camera_.deadline_ms > 0 ? camera_.deadline_ms : settings.deadline_ms;
  }
  /// The time that is compared with the deadline, ns.
  std::int64_t counted(std::size_t frame, Until until) const {
    return until == Until::Sinks ? to_sinks(frame).value_or(to_result(frame)) : to_result(frame);
  }

 private:
  const Measurement& measurement_;
  const CameraRun& camera_;
  int number_;
};

std::vector<Measured> cameras_of(const Measurement& measurement);

}  // namespace contorno::latency
