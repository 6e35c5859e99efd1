// What the command line of `contorno latency` says.
#pragma once

#include <string>
#include <vector>

#include "tools/commands/given_options.h"
#include "tools/commands/graph_argument.h"
#include "tools/latency/measure.h"
#include "tools/latency/report.h"

namespace contorno::latency {

struct LatencyArguments {
  GraphArguments graph{.output = ""};
  std::vector<std::string> from;  ///< reports, instead of a graph
  std::string gst;                ///< a pipeline of GStreamer, instead of a graph
  Mode mode = Mode::Stream;
  Until until = Until::Result;
  double fps = 0;  ///< 0 = not given
  double duration_s = 60, warm_up_s = 2, deadline_ms = 0, hold_percent = 99.9, tolerance_percent = 5;
  Arrival arrival;
  std::uint64_t seed = 1;
  int cameras = 1, most_cameras = 64, repeats = 1, worst = 5;
  std::int64_t preload = 64;
  std::uint64_t probe_every = 0;  ///< 0 = not given
  bool no_sinks = false, no_probe_cost = false, quiet = false;
  std::string backend, report, html, trace, csv, compare;
  std::vector<std::string> assertions;
  GivenOptions given;

  /// Frames a second; what stands for it where none were given.
  double rate() const { return fps > 0 ? fps : 10; }
  bool searches() const { return mode == Mode::Saturate || mode == Mode::Cameras; }
  Load load(Backend backend) const;
  /// Throws Error(Usage) where options contradict each other, or have no effect.
  void check() const;
  void check_effect() const;
  /// Throws Error(Usage) where options are not for a graph with several cameras.
  void check_cameras(const FleetSpec& fleet) const;
  /// Throws Error(Usage) for an assertion that names a part which the graph does not have.
  void check_assertions(const std::vector<std::string>& rows) const;
};

void add_latency_options(CLI::App& command, LatencyArguments& arguments);

}  // namespace contorno::latency
