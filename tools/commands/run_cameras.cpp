#include "tools/commands/run_cameras.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "plugins/text/pango.h"
#include "stages/catalog.h"
#include "tools/say.h"

namespace contorno {
namespace {

constexpr std::size_t kTraceSlices = std::size_t{1} << 20;  // of all cameras

/// Notes what ended a camera.
void note_failure(CameraOutcome& camera, const std::exception_ptr& failure) {
  camera.state = CameraState::Failed;
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    camera.failure = error.what(), camera.code = error.code();
  } catch (const std::bad_alloc&) {
    camera.failure = "out of memory", camera.code = ExitCode::OutOfMemory;
  } catch (const std::exception& error) {
    camera.failure = error.what(), camera.code = ExitCode::Internal;
  }
}

}  // namespace

RunCameras::Part::Part(const std::string& camera, std::size_t slices)
    : name(camera),
      failures("failed", name),
      warnings("used with a warning", name),
      trace(slices > 0 ? std::make_unique<Trace>(slices) : nullptr) {}

RunCameras::RunCameras(const FleetSpec& spec, const RunSettings& settings, OutputRegister& files)
    : settings_(settings),
      degrade_(degrade_steps(spec.live.degrade)),
      files_(files),
      text_(make_pango_text()) {
  const std::size_t slices =
      settings.has_trace ? kTraceSlices / std::max<std::size_t>(1, spec.cameras.size()) : 0;
  for (const CameraSpec& camera : spec.cameras) {
    parts_.push_back(std::make_unique<Part>(camera.name, slices));
    parts_.back()->fallback = camera.fallback;
    if (settings.counts_latency) parts_.back()->latency = std::make_unique<LatencyCounts>();
  }
}

CameraHooks RunCameras::hooks(std::function<void(const GraphSpec&, Source&)> once_open) {
  CameraHooks hooks;
  hooks.set_up = [this, once_open = std::move(once_open)](std::size_t camera, const GraphSpec& graph,
                                                          Source& source, const std::string& notice) {
    Part& part = *parts_[camera];
    if (!notice.empty())
      tell({.camera = part.name,
            .name = "note",
            .fields = {{"text", notice}},
            .sentence =
                part.name.empty() ? "note: " + notice : fmt::format("{}: note: {}", part.name, notice)});
    if (once_open) once_open(graph, source);
    return set_up(part, graph);
  };
  hooks.on_absent = [this](std::size_t camera, const std::string& reason) {
    Part& part = *parts_[camera];
    if (std::exchange(part.last_absence, reason) != reason)
      tell({.severity = Severity::Warning,
            .camera = part.name,
            .name = "absent",
            .fields = {{"reason", reason}},
            .sentence = fmt::format("{}: not there yet, and tried again: {}", part.name, reason)});
  };
  return hooks;
}

CameraSetUp RunCameras::set_up(Part& part, const GraphSpec& graph) const {
  CameraSetUp made;
  for (const SinkSpec& spec : graph.sinks) {
    part.sinks.push_back(spec.type->make(spec.params));
    made.sinks.push_back(bind_sink(spec, *part.sinks.back()));
  }
  BackendChoice backend = choose_backend(graph.settings.backend, graph);
  if (!part.fallback.empty()) backend.reason = part.fallback;
  part.empty.emplace(graph, backend.backend);
  made.options = {
      .backend = backend,
      .max_frames = settings_.frames,
      .output_root = settings_.output,
      .camera = part.name,
      .outputs = &files_,
      .probe_every = part.trace ? kEveryFrame : cheap_probe_every(backend.backend),
      .text = text_.get(),
      .trace = part.trace.get(),
      .on_failure = [&part](const FrameFailure& failure) { part.failures(failure.frame, failure.reason); },
      .on_warning = [&part](std::uint64_t frame,
                            const std::string& warning) { part.warnings(frame, warning); },
      .on_result = [&part](const PlannedGraph& result,
                           const std::vector<ClassCounts>& counts) { part.empty->look(result, counts); },
      .also_read = part.empty->reads()};
  made.options.fell_back = !part.fallback.empty();
  if (!degrade_.empty())
    made.options.quality =
        std::make_shared<const QualityLevels>(quality_levels(graph, degrade_, lighter_stage));
  if (part.latency)
    made.options.on_times = [&part](const FrameTimes& times) { part.latency->note(times.latency_ns); };
  return made;
}

void RunCameras::complete(std::size_t camera, RunReport& report) const {
  if (parts_[camera]->empty) parts_[camera]->empty->tell(report.classes);
}

std::vector<CameraOutcome> camera_reports(Fleet& fleet, const RunCameras& cameras, bool is_over) {
  std::vector<CameraOutcome> reports;
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    const Camera& camera = fleet.camera(i);
    CameraOutcome& one = reports.emplace_back();
    one.name = camera.spec().name;
    one.state = camera.state();
    if (is_over || camera.is_done()) try {
        one.report = fleet.take(i);
      } catch (...) {
        note_failure(one, std::current_exception());
      }
    // What a run that failed, or was given up, has counted.
    if (const Runner* const runner = camera.runner();
        runner != nullptr && (!camera.is_done() || !one.failure.empty()))
      one.report = runner->report();
    cameras.complete(i, one.report);
  }
  return reports;
}

}  // namespace contorno
