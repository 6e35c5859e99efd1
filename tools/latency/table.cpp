#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/shared/printable.h"
#include "tools/latency/quantity.h"
#include "tools/latency/show.h"

namespace contorno::latency {
namespace {

/// Rows whose times are all shorter are left out: nothing waited, nothing was copied.
constexpr double kLeast_ms = 0.005;
constexpr std::size_t kNameWidth = 24;

std::string row(std::string_view head, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<9} {}\n", head, text);
}

std::string cell(double ms) {
  const int digits = ms >= 1000 ? 0 : ms >= 100 ? 1 : ms >= 10 ? 2 : 3;
  return fmt::format(" {:>8.{}f}", ms, digits);
}

std::string cell(const Percentile& at) {
  if (at.state == Percentile::State::TooFew) return fmt::format(" {:>8}", "n/a");
  if (at.state == Percentile::State::Infinite) return fmt::format(" {:>8}", "inf");
  return cell(at.ms);
}

std::string times_row(const std::string& name, std::size_t width, const Distribution& times,
                      std::uint64_t missing) {
  std::string text =
      fmt::format("          {:<{}}{}{}", name, width, cell(times.min_ms()), cell(times.mean_ms()));
  for (const NamedPercentile& one : kPercentiles) text += cell(times.percentile(one.share, missing));
  text += missing > 0 ? fmt::format(" {:>8}", "inf") : cell(times.max_ms());
  return text + cell(times.jitter_ms()) + "\n";
}

/// Which percentiles lack frames, from end to end or of the parts.
std::string needed_row(const Tally& frames) {
  std::string needed;
  const bool all_probed = frames.probed == frames.delivered;
  for (const NamedPercentile& one : kPercentiles)
    if ((all_probed ? frames.offered : frames.probed) < frames_needed(one.share))
      needed +=
          fmt::format("{}{} needs {} frames", needed.empty() ? "" : ", ", one.name, frames_needed(one.share));
  if (needed.empty()) return "";
  return fmt::format("          n/a: {}, have {}{}\n", needed, frames.offered,
                     all_probed ? "" : fmt::format(", of parts {}", frames.probed));
}

}  // namespace

std::string latency_rows(const LatencyReport& report) {
  if (report.counted().count() == 0) return row("latency", "no frame has a result");
  std::size_t width = kNameWidth;
  for (const Row& one : report.rows) width = std::max(width, one.times.name().size() + 3);
  std::string text = fmt::format("latency   {:<{}} {:>8} {:>8}", "ms", width, "min", "mean");
  for (const NamedPercentile& one : kPercentiles) text += fmt::format(" {:>8}", one.name);
  text += fmt::format(" {:>8} {:>8}\n", "max", "jitter");
  for (const Row& one : report.rows) {
    const Distribution& times = one.times;
    const bool whole = one.kind == RowKind::EndToEnd;
    if (!whole && times.max_ms() < kLeast_ms) continue;
    const std::string name = whole || one.kind == RowKind::Interval ? times.name() : "  " + times.name();
    text += times_row(name, width, times, 0);
    if (whole && report.frames.missing() > 0)
      text += times_row("  without result = inf", width, times, report.frames.missing());
  }
  return text + needed_row(report.frames);
}

namespace {

std::string frames_text(const Tally& frames, Mode mode) {
  std::vector<std::string> reasons;
  if (frames.ring_full > 0) reasons.push_back(fmt::format("{} {}", frames.ring_full, reason_of_drops(mode)));
  if (frames.dropped_deadline > 0)
    reasons.push_back(fmt::format("{} past the graph's deadline", frames.dropped_deadline));
  if (frames.not_sent > 0) reasons.push_back(fmt::format("{} that the source owed", frames.not_sent));
  return fmt::format("{} offered = {} delivered + {} dropped{} + {} failed + {} in flight", frames.offered,
                     frames.delivered, frames.dropped(),
                     reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, ", ")), frames.failed,
                     frames.in_flight);
}

std::string misses_text(const LatencyReport& report) {
  const Tally& frames = report.frames;
  std::string text = fmt::format("{:.0f} per million, {} of {} frames", frames.misses_per_million(),
                                 frames.misses(), frames.offered);
  if (frames.misses() > 0) text += fmt::format(", longest run {}", frames.longest_run);
  if (!report.missing_frames.empty())
    text += fmt::format("; without result: #{}{}", fmt::join(report.missing_frames, " #"),
                        frames.missing() > report.missing_frames.size() ? " ..." : "");
  return text;
}

std::string camera_rows(const LatencyReport& report) {
  std::string text;
  for (const CameraFigures& one : report.cameras)
    text += row(text.empty() ? "cameras" : "", one.name + ", " + camera_text(one, report.settings.mode));
  return text;
}

std::string worst_rows(const LatencyReport& report, std::string_view head,
                       const std::vector<WorstFrame>& worst) {
  std::string text;
  for (const WorstFrame& one : worst) {
    auto parts = one.parts_ms;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string where;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, parts.size()); ++i)
      if (parts[i].second >= kLeast_ms)
        where += fmt::format("{}{} {:.4g}", where.empty() ? "" : ", ", parts[i].first, parts[i].second);
    const std::string camera =
        report.settings.cameras > 1 ? name_of_camera(report, one.camera, "camera") + " " : "";
    text += row(text.empty() ? head : "",
                fmt::format("{}#{:<7} {:8.3f} ms, due at {:.3f} s: {}{}", camera, one.frame, one.total_ms,
                            one.due_s, where, one.probed ? "" : " (not probed)"));
  }
  return text;
}

std::string repeats_text(const LatencyReport& report) {
  if (report.repeats.size() < 2) return "";
  const auto range = [&](auto Repeat::*figure) {
    const auto [low, high] =
        std::minmax_element(report.repeats.begin(), report.repeats.end(),
                            [&](const Repeat& a, const Repeat& b) { return a.*figure < b.*figure; });
    return fmt::format("{:.4g} to {:.4g} ms", (*low).*figure, (*high).*figure);
  };
  std::string text = fmt::format("{}: p50 {}", report.repeats.size(), range(&Repeat::p50_ms));
  if (std::all_of(report.repeats.begin(), report.repeats.end(),
                  [](const Repeat& one) { return one.knows_p99; }))
    text += fmt::format(", p99 {}", range(&Repeat::p99_ms));
  return text + fmt::format(", max {}", range(&Repeat::max_ms));
}

std::string interval_text(const LatencyReport& report) {
  const Distribution& times = report.counted();
  std::string text;
  for (const NamedPercentile& one : {kPercentiles[0], kPercentiles[2], kPercentiles[3]}) {
    if (times.percentile(one.share).state != Percentile::State::Known) continue;
    const auto [low, high] = times.interval(one.share, 1.96);
    text += fmt::format("{}{} between {:.4g} and {}", text.empty() ? "" : ", ", one.name, low,
                        std::isinf(high) ? "any time" : fmt::format("{:.4g} ms", high));
  }
  return text.empty() ? "" : text + " (95 % confidence, as if frames were independent)";
}

std::string trial_rows(const LatencyReport& report) {
  std::string text;
  for (const Trial& one : report.trials)
    text +=
        row(text.empty() ? "search" : "",
            fmt::format(
                "{:>9.4g} frames/s x {:<3} {:>7} frames, {:>6} missed, p50 {:8.3f} ms, max {:8.3f} ms: {}",
                one.rate, one.cameras, one.offered, one.misses, one.p50_ms, one.max_ms,
                one.held ? "held" : "not held"));
  return text;
}

}  // namespace

const char* reason_of_drops(Mode mode) {
  return mode == Mode::Pipeline ? "left out on the way" : "no free slot";
}

std::string name_of_camera(const LatencyReport& report, int number, std::string_view noun) {
  return report.cameras.empty() ? fmt::format("{} {}", noun, number)
                                : report.cameras.at(static_cast<std::size_t>(number) - 1).name;
}

std::string camera_text(const CameraFigures& camera, Mode mode) {
  return fmt::format("{}within {:g} ms: {}; {} missed",
                     camera.rate > 0 ? fmt::format("{:g} frames/s ", camera.rate) : "", camera.deadline_ms,
                     frames_text(camera.frames, mode), camera.frames.misses());
}

std::string resources_text(const LatencyReport& report) {
  const Resources& used = report.resources;
  const double frames = static_cast<double>(std::max<std::uint64_t>(1, report.frames.offered));
  return fmt::format(
      "{:.1f} % of one processor, {:.3f} ms a frame; heap {:+.1f} KiB, resident {:+.1f} KiB, page faults {} "
      "+ {} "
      "from disk, {} forced switches",
      used.wall_s > 0 ? 100 * used.cpu_s / used.wall_s : 0, 1e3 * used.cpu_s / frames,
      static_cast<double>(used.heap_growth_bytes) / 1024,
      static_cast<double>(used.resident_end_bytes - used.resident_begin_bytes) / 1024, used.minor_faults,
      used.major_faults, used.involuntary_switches);
}

std::string memory_text(const Memory& memory) {
  if (memory.slots == 0) return "";
  const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  return fmt::format("{} slots: {:.1f} MiB host, {:.1f} MiB pinned, {:.1f} MiB device", memory.slots,
                     mib(memory.host), mib(memory.pinned), mib(memory.device));
}

std::string probe_text(const ProbeCost& cost, double deadline_ms) {
  if (cost.rounds == 0) return "";
  const std::string mean =
      cost.every == kEveryFrame
          ? ""
          : fmt::format("{:+.2f} % of a frame on average, as one in {} is probed; all probed: ",
                        cost.mean_percent(), cost.every);
  return fmt::format(
      "{}{:+.2f} % of a frame ({:+.2f} to {:+.2f} % in {} rounds), {:+.3f} % of the deadline: p50 {:.4g} ms "
      "with, {:.4g} ms without",
      mean, cost.median_percent, cost.least_percent, cost.most_percent, cost.rounds,
      100 * (cost.with_ms - cost.without_ms) / deadline_ms, cost.with_ms, cost.without_ms);
}

std::string probed_text(const LatencyReport& report) {
  const Tally& frames = report.frames;
  if (frames.probed == frames.delivered) return "";
  return fmt::format("the parts of {} of {} frames were timed, of those whose number is a multiple of {}",
                     frames.probed, frames.delivered, report.settings.probe_every);
}

std::string allocations_text(const FrameAllocations& allocations) {
  if (allocations.frames == 0) return "";
  return fmt::format("{} times by {} frames one at a time, from the source to the result", allocations.count,
                     allocations.frames);
}

std::string load_text(const LatencyReport& report) {
  const Settings& settings = report.settings;
  if (settings.mode == Mode::Pipeline)
    return fmt::format(
        "{} frames, {:.4g} a second on average, for {} after a warm-up of {}, which is left out",
        settings.loop == Loop::Open ? "live" : "as fast as the pipeline takes them:", settings.rate,
        duration_text(settings.duration_s * 1e9), duration_text(settings.warm_up_s * 1e9));
  const std::string rate = settings.rate == 0       ? "as fast as it goes"
                           : report.cameras.empty() ? fmt::format("{:g} frames/s", settings.rate)
                                                    : "at its own rate";
  const std::string loop = settings.loop == Loop::Open
                               ? fmt::format("open loop, {} arrivals", settings.arrival)
                               : std::string("closed loop, one frame at a time");
  std::string text = fmt::format(
      "{}, {} for {} after a warm-up of {} and at least {} frames, which is left out", loop, rate,
      duration_text(settings.duration_s * 1e9), duration_text(settings.warm_up_s * 1e9), kWarmUpFrames);
  if (settings.cameras > 1) text = fmt::format("{} cameras at once, each: {}", settings.cameras, text);
  if (settings.repeats > 1) text += fmt::format("; {} times", settings.repeats);
  return text;
}

namespace {

/// What was measured, and with what.
std::string setting_rows(const LatencyReport& report) {
  const Settings& settings = report.settings;
  if (settings.mode == Mode::Pipeline)
    return row("pipeline", printable_sentence(settings.graph_text)) + row("load", load_text(report)) +
           row("from", printable_sentence(settings.source));
  std::string text = row("graph", printable_sentence(settings.graph_file));
  text += row("load", load_text(report));
  text +=
      row("input", printable_sentence(settings.source) +
                       (settings.held_frames > 0
                            ? fmt::format("; {} frames of it, held in memory, in turn", settings.held_frames)
                            : "; read when needed"));
  text += row("backend",
              fmt::format("{}, {} threads, {} slots, on_full {}{}{}", settings.backend, settings.threads,
                          settings.slots, settings.on_full, settings.backend_reason.empty() ? "" : "; ",
                          printable_sentence(settings.backend_reason)));
  return text;
}

}  // namespace

std::string table_of(const LatencyReport& report, const Judgement& judgement) {
  const Settings& settings = report.settings;
  std::string text = setting_rows(report);
  for (const auto& [name, value] : report.environment)
    if (name == "device" || name == "processor") text += row("machine", printable_sentence(value));
  if (report.merged > 1) text += row("merged", fmt::format("from {} reports", report.merged));
  text += trial_rows(report);
  text += row("frames", frames_text(report.frames, settings.mode));
  text += row("misses", misses_text(report));
  text += camera_rows(report);
  if (report.first_frame_ms > 0)
    text += row("first", fmt::format("frame after {:.4g} ms (warm-up)", report.first_frame_ms));
  text += row("probed", probed_text(report));
  text += latency_rows(report);
  text += row("interval", interval_text(report));
  text += row("repeats", repeats_text(report));
  text += worst_rows(report, "worst", report.worst);
  text += worst_rows(report, "of probed", report.more_worst());
  text += row("memory", memory_text(report.memory));
  text += row("used", resources_text(report));
  text += row("allocated", allocations_text(report.allocations));
  text += row("probes", probe_text(report.probe_cost, settings.deadline_ms));
  for (const Assertion::Answer& answer : judgement.assertions)
    text += row("assert", fmt::format("{}: {}", name_of(answer.state), answer.sentence));
  text += row("RESULT",
              judgement.verdict.state == Verdict::State::None
                  ? judgement.verdict.sentence
                  : fmt::format("{}  {}", name_of(judgement.verdict.state), judgement.verdict.sentence));
  return text;
}

}  // namespace contorno::latency
