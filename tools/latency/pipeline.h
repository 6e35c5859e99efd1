// Measures a pipeline of GStreamer that has the element `contorno` in it, as it is: nothing but its own
// source says when frames come. What was noted becomes a Measurement, with the elements in the place of
// stages, so that figures, tables and pages are those of every other measurement.
#pragma once

#include <string>
#include <vector>

#include "plugins/media/timed_pipeline.h"
#include "tools/latency/report.h"

namespace contorno::latency {

struct MeasuredPipeline {
  GraphSpec graph;  ///< names of elements and sinks, and nothing else
  Measurement measurement;
  std::string source;                    ///< the element that frames are counted from
  std::vector<Row> kept;                 ///< how long sinks keep a frame
  std::vector<Row> traced;               ///< what GStreamer's own tracer says of the same time
  std::string held_up;                   ///< LatencyReport::held_up
  std::vector<std::string> not_counted;  ///< sinks to which no frame came by its time, though something did
};

/// Runs the line for the warm-up and the duration of `load`, or to its end. Throws Error(BadData) when no
/// frame went through; as parse_launch_line; and what ends the pipeline.
MeasuredPipeline measure_pipeline(const std::string& line, const Load& load, double deadline_ms, bool quiet);

/// Its report. `settings` says what was asked for.
LatencyReport summarise(const MeasuredPipeline& measured, Settings settings, const SummaryOptions& options);

/// A Measurement of what passed; `start_ns` is when it began, and the deadline tells which frames may still
/// be on their way at its end. Apart, so that it can be tested.
MeasuredPipeline measured_from(const PipelineTimes& times, const Load& load, double deadline_ms,
                               std::int64_t start_ns);

}  // namespace contorno::latency
