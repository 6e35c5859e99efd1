// From what was noted of single frames to the figures of a report.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tools/latency/fields.h"
#include "tools/latency/measured.h"
#include "tools/latency/report.h"

namespace contorno::latency {
namespace {

/// Frames that are listed by number because they have no result.
constexpr std::size_t kMostListed = 20;
constexpr std::size_t kMostBins = 240;

/// What became of the frames of cameras.
Tally tally(const std::vector<Measured>& cameras, const Settings& settings) {
  Tally sum;
  for (const Measured& camera : cameras) {
    std::uint64_t run = 0;
    camera.each([&](std::size_t frame) {
      ++sum.offered;
      bool missed = true;
      switch (camera.records().outcome(frame)) {
        case Outcome::Delivered:
          ++sum.delivered;
          if (camera.probed(frame)) ++sum.probed;
          missed = !camera.in_time(frame, settings);
          if (missed) ++sum.late;
          break;
        case Outcome::Failed:
          ++sum.failed;
          break;
        case Outcome::RingFull:
          ++sum.ring_full;
          break;
        case Outcome::Deadline:
          ++sum.dropped_deadline;
          break;
        case Outcome::NotSent:
          ++sum.not_sent;
          break;
        case Outcome::UnderWay:
        case Outcome::NotOffered:
          ++sum.in_flight;
          missed = false;
          break;
      }
      run = missed ? run + 1 : 0;
      sum.longest_run = std::max(sum.longest_run, run);
    });
  }
  return sum;
}

/// Calls `visit` with every camera of every repeat.
template <class F>
void each_camera(const std::vector<Measurement>& repeats, const F& visit) {
  for (const Measurement& repeat : repeats)
    for (const Measured& camera : cameras_of(repeat)) visit(camera);
}

std::vector<std::int64_t> samples_of(const std::vector<Measurement>& repeats, const auto& time) {
  std::vector<std::int64_t> samples;
  each_camera(repeats, [&](const Measured& camera) {
    camera.each([&](std::size_t frame) {
      if (!camera.delivered(frame)) return;
      if (const std::optional<std::int64_t> one = time(camera, frame)) samples.push_back(*one);
    });
  });
  return samples;
}

/// Times between results that follow each other on one camera.
std::vector<std::int64_t> output_intervals(const std::vector<Measurement>& repeats) {
  std::vector<std::int64_t> samples;
  each_camera(repeats, [&](const Measured& camera) {
    std::int64_t before = 0;
    camera.each([&](std::size_t frame) {
      if (!camera.delivered(frame)) return;
      const std::int64_t end = camera.records().time(frame, camera.records().columns().finished());
      if (before != 0) samples.push_back(end - before);
      before = end;
    });
  });
  return samples;
}

void add_rows(LatencyReport& report, const GraphSpec& graph, const std::vector<Measurement>& repeats) {
  const auto add_row = [&](RowKind kind, const std::string& name, std::vector<std::int64_t> samples) {
    if (!samples.empty()) report.rows.push_back({kind, Distribution(name, std::move(samples))});
  };
  add_row(RowKind::EndToEnd, kDueToResult, samples_of(repeats, [](const Measured& camera, std::size_t frame) {
            return std::optional(camera.to_result(frame));
          }));
  add_row(RowKind::EndToEnd, kDueToSinks, samples_of(repeats, [](const Measured& camera, std::size_t frame) {
            return camera.to_sinks(frame);
          }));
  for (const CameraFigures& figures : report.cameras)
    add_row(
        RowKind::Camera, row_of_camera(figures.name),
        samples_of(repeats, [&](const Measured& camera, std::size_t frame) -> std::optional<std::int64_t> {
          if (camera.name() != figures.name) return std::nullopt;
          return camera.counted(frame, report.settings.until);
        }));
  for (const Part& part : parts_of(graph)) {
    if (part.unprobed) continue;
    add_row(
        part.kind, part.name,
        samples_of(repeats, [&](const Measured& camera, std::size_t frame) -> std::optional<std::int64_t> {
          const std::optional<PartSpan> span = span_of(camera.records(), frame, part);
          if (!span) return std::nullopt;
          return span->end_ns - span->begin_ns;
        }));
  }
  add_row(RowKind::Interval, "between results", output_intervals(repeats));
}

void add_parts(WorstFrame& one, const Measured& camera, std::size_t frame, const std::vector<Part>& parts,
               Until until) {
  const FrameRecords& records = camera.records();
  for (const Part& part : parts) {
    const std::optional<PartSpan> span = span_of(records, frame, part);
    if (!span) continue;
    const double length = ms(span->end_ns - span->begin_ns);
    one.trace.push_back({part.name, ms(span->begin_ns - records.time(frame, Columns::kDue)), length});
    if (!part.after_result || until == Until::Sinks) one.parts_ms.emplace_back(part.name, length);
  }
}

/// Whether a frame that takes so long is one of the `most` slowest that `worst` is for.
bool belongs_to(const std::vector<WorstFrame>& worst, double total_ms, std::size_t most) {
  return worst.size() < most || (most > 0 && total_ms > worst.back().total_ms);
}

void insert(std::vector<WorstFrame>& worst, const WorstFrame& one, std::size_t most) {
  const auto place = std::find_if(worst.begin(), worst.end(),
                                  [&](const WorstFrame& other) { return other.total_ms < one.total_ms; });
  worst.insert(place, one);
  if (worst.size() > most) worst.pop_back();
}

void add_worst(LatencyReport& report, const GraphSpec& graph, const std::vector<Measurement>& repeats,
               std::size_t most) {
  const auto parts = parts_of(graph);
  const bool all_probed = report.frames.probed == report.frames.delivered;
  each_camera(repeats, [&](const Measured& camera) {
    camera.each([&](std::size_t frame) {
      if (!camera.delivered(frame)) {
        if (camera.records().outcome(frame) != Outcome::UnderWay &&
            report.missing_frames.size() < kMostListed)
          report.missing_frames.push_back(frame);
        return;
      }
      const double total = ms(camera.counted(frame, report.settings.until));
      const bool slow = belongs_to(report.worst, total, most);
      const bool slow_probed =
          !all_probed && camera.probed(frame) && belongs_to(report.worst_probed, total, most);
      if (!slow && !slow_probed) return;
      WorstFrame one{.camera = camera.number(),
                     .frame = frame,
                     .due_s = ms(camera.due_ns(frame)) * 1e-3,
                     .total_ms = total,
                     .probed = camera.probed(frame)};
      add_parts(one, camera, frame, parts, report.settings.until);
      if (slow) insert(report.worst, one, most);
      if (slow_probed) insert(report.worst_probed, one, most);
    });
  });
}

/// Repeats follow one after the other on the time axis.
void add_series(LatencyReport& report, const std::vector<Measurement>& repeats) {
  double begin = 0;
  for (const Measurement& repeat : repeats) {
    double first_s = 0, last_s = 0;
    std::uint64_t frames = 0;
    for (const Measured& camera : cameras_of(repeat))
      camera.each([&](std::size_t frame) {
        const double due = ms(camera.due_ns(frame)) * 1e-3;
        first_s = frames++ == 0 ? due : std::min(first_s, due);
        last_s = std::max(last_s, due);
      });
    const std::size_t bins =
        std::max<std::size_t>(1, std::min<std::size_t>(kMostBins / repeats.size(), frames));
    // One frame alone has the whole of its repeat.
    const double length = last_s > first_s ? last_s - first_s : std::max(1e-3, repeat.load.duration_s);
    const double width = length / static_cast<double>(bins) + 1e-9;
    std::vector<std::vector<std::int64_t>> samples(bins);
    std::vector<Bin> pieces(bins);
    for (const Measured& camera : cameras_of(repeat))
      camera.each([&](std::size_t frame) {
        const double due = ms(camera.due_ns(frame)) * 1e-3;
        const auto bin = std::min(bins - 1, static_cast<std::size_t>((due - first_s) / width));
        if (camera.delivered(frame))
          samples[bin].push_back(camera.counted(frame, report.settings.until));
        else if (camera.records().outcome(frame) != Outcome::UnderWay)
          ++pieces[bin].missed;
      });
    for (std::size_t bin = 0; bin < bins; ++bin) {
      pieces[bin].begin_s = begin + static_cast<double>(bin) * width;
      const Distribution times("", std::move(samples[bin]));
      pieces[bin].delivered = times.count();
      pieces[bin].median_ms = times.percentile(0.5).ms;
      pieces[bin].max_ms = times.max_ms();
    }
    report.series.insert(report.series.end(), pieces.begin(), pieces.end());
    begin += static_cast<double>(bins) * width;
  }
}

/// The cameras of `sources:` in their order, each with its frames of all repeats.
void add_cameras(LatencyReport& report, const std::vector<Measurement>& repeats) {
  for (const Measurement& repeat : repeats)
    for (const Measured& camera : cameras_of(repeat)) {
      if (camera.name().empty()) return;
      const auto number = static_cast<std::size_t>(camera.number());
      if (report.cameras.size() < number)
        report.cameras.push_back({.name = camera.name(),
                                  .rate = camera.rate(),
                                  .deadline_ms = camera.deadline_ms(report.settings),
                                  .frames = {}});
      report.cameras[number - 1].frames.add(tally({camera}, report.settings));
    }
}

void add_repeat(LatencyReport& report, const Measurement& repeat) {
  for (const CameraRun& camera : repeat.cameras)
    report.source_reconnections += camera.report.source_reconnections;
  std::vector<std::int64_t> samples;
  for (const Measured& camera : cameras_of(repeat))
    camera.each([&](std::size_t frame) {
      if (camera.delivered(frame)) samples.push_back(camera.counted(frame, report.settings.until));
    });
  const Tally frames = tally(cameras_of(repeat), report.settings);
  const Distribution times("", std::move(samples));
  const Percentile p99 = times.percentile(0.99);
  report.repeats.push_back({.p50_ms = times.percentile(0.5).ms,
                            .p99_ms = p99.ms,
                            .max_ms = times.max_ms(),
                            .mean_ms = times.mean_ms(),
                            .knows_p99 = p99.state == Percentile::State::Known,
                            .misses_per_million = frames.misses_per_million()});
  report.frames.add(frames);
}

void add_resources(LatencyReport& report, const std::vector<Measurement>& repeats) {
  for (const Measurement& repeat : repeats) {
    const Resources& one = repeat.resources;
    Resources& sum = report.resources;
    if (sum.wall_s == 0) sum.resident_begin_bytes = one.resident_begin_bytes;
    add_fields(sum, one, kSummed);
    sum.resident_end_bytes = one.resident_end_bytes;
  }
  report.memory = repeats.back().memory;
}

double mean_rate(const Measurement& one) {
  if (one.cameras.front().name.empty()) return one.load.rate;
  double sum = 0;
  for (const CameraRun& camera : one.cameras) sum += camera.rate;
  return sum / static_cast<double>(one.cameras.size());
}

/// Of all cameras, each once: "cuda", "cuda:0 (NVIDIA H200), cuda:1 (NVIDIA H200)".
std::string backends_of(const Measurement& one) {
  std::set<std::pair<Backend, int>> backends;
  for (const CameraRun& camera : one.cameras) backends.emplace(camera.report.backend, camera.report.device);
  std::string text;
  for (const auto& [backend, device] : backends)
    text += (text.empty() ? "" : ", ") + describe(BackendChoice(backend, "", device));
  return text;
}

void complete_settings(Settings& settings, const Measurement& one) {
  const RunReport& run = one.cameras.front().report;
  settings.loop = one.load.loop;
  settings.rate = mean_rate(one);
  settings.arrival = text_of(one.load.arrival);
  settings.seed = one.load.seed;
  settings.duration_s = one.load.duration_s;
  settings.warm_up_s = one.load.warm_up_s;
  for (const CameraRun& camera : one.cameras)
    settings.warm_up_frames = std::max<std::uint64_t>(settings.warm_up_frames, camera.warm_up_frames);
  settings.cameras = one.load.cameras;
  settings.probe_every = one.load.probe_every;
  settings.source = run.source;
  for (std::size_t i = 1; i < one.cameras.size() && !one.cameras[i].name.empty(); ++i)
    settings.source += ", " + one.cameras[i].report.source;
  settings.backend = backends_of(one);
  settings.backend_reason = run.backend_reason;
  settings.on_full = name_of(run.on_full);
  settings.threads = run.threads;
  settings.slots = run.slots;
}

}  // namespace

const Distribution* LatencyReport::row(std::string_view name) const {
  for (const Row& one : rows)
    if (one.times.name() == name) return &one.times;
  return nullptr;
}

const std::string* LatencyReport::fact(std::string_view name) const {
  for (const auto& [key, value] : environment)
    if (key == name) return &value;
  return nullptr;
}

std::vector<WorstFrame> LatencyReport::more_worst() const {
  std::vector<WorstFrame> more = worst_probed;
  std::erase_if(more, [&](const WorstFrame& one) {
    return std::any_of(worst.begin(), worst.end(), [&](const WorstFrame& other) {
      return other.camera == one.camera && other.frame == one.frame && other.total_ms == one.total_ms;
    });
  });
  return more;
}

const Distribution& LatencyReport::counted() const {
  static const Distribution kNone;
  const Distribution* sinks = settings.until == Until::Sinks ? row(kDueToSinks) : nullptr;
  const Distribution* result = row(kDueToResult);
  return sinks != nullptr ? *sinks : result != nullptr ? *result : kNone;
}

LatencyReport summarise(const GraphSpec& graph, Settings settings, const std::vector<Measurement>& repeats,
                        const SummaryOptions& options) {
  LatencyReport report;
  complete_settings(settings, repeats.front());
  settings.repeats = static_cast<int>(repeats.size());
  report.settings = std::move(settings);
  const Measured first(repeats.front(), repeats.front().cameras.front(), 1);
  if (first.records().size() > 0 && first.delivered(0)) report.first_frame_ms = ms(first.to_result(0));
  for (const Measurement& repeat : repeats) add_repeat(report, repeat);
  add_cameras(report, repeats);
  add_rows(report, graph, repeats);
  add_worst(report, graph, repeats, options.worst);
  add_series(report, repeats);
  add_resources(report, repeats);
  return report;
}

}  // namespace contorno::latency
