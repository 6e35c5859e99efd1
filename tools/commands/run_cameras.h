// What `contorno run` holds for each camera of a graph: its sinks, what is said of its frames, its trace. One
// without a name, of a graph with `source:`, is a fleet of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/fleet.h"
#include "plugins/files/shared/output_register.h"
#include "tools/empty_classes.h"
#include "tools/fleet_report.h"
#include "tools/frame_log.h"
#include "tools/ops/latency_counts.h"

namespace contorno {

struct RunSettings {
  std::string output;
  std::uint64_t frames = 0;  ///< of each camera; 0 = all
  bool has_trace = false;
  bool counts_latency = false;
};

class RunCameras {
 public:
  /// `files` is borrowed, as are the cameras' names.
  RunCameras(const FleetSpec& spec, const RunSettings& settings, OutputRegister& files);

  /// Calls are made by the fleet, of which this must outlive every camera. `once_open` is called when the
  /// source of a camera is open, before anything is made for it.
  CameraHooks hooks(std::function<void(const GraphSpec&, Source&)> once_open);
  /// Adds to a report what this has found out.
  void complete(std::size_t camera, RunReport& report) const;
  /// The trace of a camera; null where none is wanted.
  const Trace* trace(std::size_t camera) const { return parts_[camera]->trace.get(); }
  /// The counts of latencies of a camera; null where nobody asks for them. Safe from any thread.
  const LatencyCounts* latency(std::size_t camera) const { return parts_[camera]->latency.get(); }

 private:
  struct Part {
    Part(const std::string& camera, std::size_t slices);
    std::string name, fallback;
    std::vector<std::unique_ptr<Sink>> sinks;
    FrameLog failures, warnings;
    std::optional<EmptyClasses> empty;
    std::unique_ptr<Trace> trace;
    std::unique_ptr<LatencyCounts> latency;
    std::string last_absence;  // what was said last; the camera's thread alone
  };
  CameraSetUp set_up(Part& part, const GraphSpec& graph) const;

  RunSettings settings_;
  std::vector<DegradeStep> degrade_;
  OutputRegister& files_;
  std::unique_ptr<TextRasteriser> text_;
  std::vector<std::unique_ptr<Part>> parts_;
};

/// The cameras' reports once they have ended, or while a device is given up; `is_over` says which.
std::vector<CameraOutcome> camera_reports(Fleet& fleet, const RunCameras& cameras, bool is_over);

}  // namespace contorno
