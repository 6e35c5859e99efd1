#include "tools/commands/latency_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>

#include "base/error.h"
#include "tools/commands/number_options.h"
#include "tools/latency/quantity.h"
#include "tools/latency/verdicts.h"

namespace contorno::latency {
namespace {

constexpr double kMostRate = 1e6;
constexpr const char* kNeedsHeldFrames =
    "several cameras, or a search, need frames that are held in memory: --preload of at least 1";
constexpr int kMostCameras = 1000, kMostRepeats = 1000, kMostWorst = 1000, kMostProbeEvery = 1'000'000;

/// An option whose value is a time with its unit, in units of `unit_ns`.
void add_time(CLI::App& command, const std::string& name, double& value, double unit_ns,
              const std::string& sentence, const std::string& default_text) {
  command
      .add_option_function<std::string>(
          name,
          [name, unit_ns, &value](const std::string& text) {
            value = nanoseconds_of_option(name, text) / unit_ns;
          },
          sentence)
      ->type_name("TIME")
      ->default_str(default_text);
}

/// An option whose value is one of several words.
template <class E>
void add_choice(CLI::App& command, const std::string& name, E& value, const std::map<std::string, E>& words,
                const std::string& sentence) {
  std::vector<std::string> names;
  for (const auto& [word, one] : words) names.push_back(word);
  command
      .add_option_function<std::string>(
          name, [words, &value](const std::string& word) { value = words.at(word); }, sentence)
      ->check(CLI::IsMember(names))
      ->default_str(name_of(value));
}

void add_load_options(CLI::App& command, LatencyArguments& arguments) {
  add_choice<Mode>(
      command, "--mode", arguments.mode,
      {{"stream", Mode::Stream},
       {"single", Mode::Single},
       {"saturate", Mode::Saturate},
       {"cameras", Mode::Cameras}},
      "stream: at a fixed rate, whether or not the pipeline is ready; single: one frame at a time; "
      "saturate: search for the highest rate that holds the deadline; cameras: search for the most "
      "cameras that do");
  constexpr double kLeastRate = 0.001;
  add_number(command, "--fps", arguments.fps, kLeastRate, kMostRate,
             "Frames a second of each camera, 10 unless given; of single: at most so many");
  add_time(command, "--duration", arguments.duration_s, 1e9, "How long to measure after the warm-up", "60s");
  add_time(command, "--warmup", arguments.warm_up_s, 1e9,
           "What is left out at the beginning, and at least 30 frames", "2s");
  command
      .add_option_function<std::string>(
          "--arrival", [&arguments](const std::string& text) { arguments.arrival = arrival_from(text); },
          "When frames are due: fixed, poisson, or burst:N for N at once")
      ->default_str("fixed");
  add_whole_number(command, "--seed", arguments.seed, 0, kUnbounded, "Of poisson arrivals");
  add_whole_number(command, "--cameras", arguments.cameras, 1, kMostCameras,
                   "So many streams at once, which share the device");
  add_whole_number(command, "--most-cameras", arguments.most_cameras, 1, kMostCameras,
                   "Where the search of --mode cameras ends");
  add_whole_number(command, "--repeat", arguments.repeats, 1, kMostRepeats, "Measure so many times");
  add_whole_number(
      command, "--preload", arguments.preload, 0, 1'000'000,
      "Frames of the source that are read beforehand, up to 1 GiB, and given in turn; 0: each is "
      "read before it is due");
  command.add_flag("--no-sinks", arguments.no_sinks, "Bring results to the host, and do nothing with them");
  add_whole_number(
      command, "--probe-every", 1, kMostProbeEvery, "Time the parts of one frame in so many",
      [&arguments](std::int64_t every) { arguments.probe_every = static_cast<std::uint64_t>(every); },
      fmt::format("{} on CUDA, {} on the CPU", cheap_probe_every(Backend::Cuda),
                  cheap_probe_every(Backend::Cpu)));
  command.add_flag("--no-probe-cost", arguments.no_probe_cost,
                   "Do not measure what taking the times of the parts costs, nor count allocations (5 s)");
  add_graph_backend(command, arguments.backend);
}

void add_judging_options(CLI::App& command, LatencyArguments& arguments) {
  add_time(command, "--deadline", arguments.deadline_ms, 1e6,
           "What a frame may take; the graph's deadline unless given, else the time between frames", "");
  constexpr double kLeastHold = 50, kMostHold = 100;
  add_number(command, "--hold", arguments.hold_percent, kLeastHold, kMostHold,
             "Percentage of the frames that have to meet the deadline");
  add_choice<Until>(command, "--until", arguments.until, {{"result", Until::Result}, {"sinks", Until::Sinks}},
                    "What ends a frame's time: its result in host memory, or the end of its last sink");
  command
      .add_option(
          "--assert", arguments.assertions,
          "What has to hold beside the deadline: p99<100ms, STAGE.p50<=3ms, misses<=0.1%, dropped==0; "
          "may be repeated")
      ->type_name("CONDITION");
  command.add_option("--compare", arguments.compare, "Report of an earlier measurement, to compare with")
      ->type_name("FILE.json");
  constexpr double kMostTolerance = 1000;
  add_number(command, "--tolerance", arguments.tolerance_percent, 0, kMostTolerance,
             "Percentage by which a figure may differ from the earlier one");
}

void add_output_options(CLI::App& command, LatencyArguments& arguments) {
  add_whole_number(command, "--worst", arguments.worst, 0, kMostWorst, "Slowest frames to list and to trace");
  command.add_option("--report", arguments.report, "Write the report as JSON; - is standard output")
      ->type_name("FILE.json");
  command.add_option("--html", arguments.html, "Write the report as one page")->type_name("FILE.html");
  command.add_option("--trace", arguments.trace, "Write a Perfetto trace of the slowest frames")
      ->type_name("FILE.json");
  command.add_option("--csv", arguments.csv, "Write a row a frame with all its times")->type_name("FILE.csv");
  command
      .add_option("--from", arguments.from,
                  "Read a report instead of measuring; several of the same measurement are put together")
      ->type_name("FILE.json");
  command.add_flag("--quiet", arguments.quiet, "Print nothing where the deadline is held");
}

}  // namespace

Load LatencyArguments::load(Backend backend) const {
  Load load{
      .arrival = arrival, .seed = seed, .warm_up_s = warm_up_s, .duration_s = duration_s, .cameras = cameras};
  load.loop = mode == Mode::Single ? Loop::Closed : Loop::Open;
  load.rate = mode == Mode::Single ? fps : rate();
  load.probe_every = probe_every > 0 ? probe_every : cheap_probe_every(backend);
  return load;
}

void LatencyArguments::check() const {
  const auto refuse = [](const std::string& sentence) { throw Error(ExitCode::Usage, sentence); };
  if (is_given(given, "--deadline") && deadline_ms <= 0)
    refuse(
        "--deadline is 0, allowed a time above 0: nothing is done at once; leave it out for the graph's "
        "deadline");
  if (is_given(given, "--duration") && duration_s <= 0) refuse("--duration is 0, allowed a time above 0");
  if (static_cast<int>(!graph.graph.empty()) + static_cast<int>(!from.empty()) +
          static_cast<int>(!gst.empty()) !=
      1)
    refuse("wanted is one of: a GRAPH to measure, --gst with a pipeline, --from with a report");
  if (!from.empty() && !(trace.empty() && csv.empty()))
    refuse("--trace and --csv need a measurement: a report has no single frames");
  check_effect();
  if (mode == Mode::Saturate && fps > 0)
    refuse("--mode saturate searches for the rate: --fps says nothing there");
  if (mode == Mode::Cameras && cameras > 1)
    refuse("--mode cameras searches for their number, up to --most-cameras; --cameras says nothing there");
  if (searches() && repeats > 1)
    refuse("--repeat is of no use where a rate or number of cameras is searched for");
  if (mode == Mode::Single && arrival.kind != ArrivalKind::Fixed)
    refuse("--mode single sends a frame when the one before is done: it has no --arrival");
  if (preload == 0 && (cameras > 1 || searches())) refuse(kNeedsHeldFrames);
  if (report == "-" && !quiet)
    refuse("--report - writes to standard output, where the table stands: add --quiet");
  check_assertions({});
}

void LatencyArguments::check_effect() const {
  if (!gst.empty())
    refuse_all_but(given,
                   {"--gst", "--duration", "--warmup", "--deadline", "--hold", "--assert", "--compare",
                    "--tolerance", "--worst", "--report", "--html", "--trace", "--csv", "--quiet"},
                   [](const std::string& names) {
                     return fmt::format(
                         "--gst measures a pipeline as it is, at the pace of its own source: {} would have "
                         "no effect",
                         names);
                   });
  if (!from.empty())
    refuse_all_but(given, {"--from", "--assert", "--compare", "--tolerance", "--report", "--html", "--quiet"},
                   [](const std::string& names) {
                     return fmt::format("--from shows what was measured before: {} would have no effect",
                                        names);
                   });
  check_goes_with(given, "--tolerance", !compare.empty(), "--compare");
  check_goes_with(given, "--seed", arrival.kind == ArrivalKind::Poisson, "--arrival poisson");
  check_goes_with(given, "--most-cameras", mode == Mode::Cameras, "--mode cameras");
  check_goes_with(given, "--hold", mode != Mode::Single, "an open loop: --mode single has no verdict");
}

void LatencyArguments::check_cameras(const FleetSpec& fleet) const {
  if (!fleet.is_named()) return;
  if (cameras > 1 || searches())
    throw Error(
        ExitCode::Usage,
        fmt::format("{}, and the graph names its cameras in 'sources': they are measured as they are; a "
                    "search, or copies of one camera, takes a graph with 'source'",
                    searches() ? fmt::format("--mode {} searches", name_of(mode)) : "--cameras is given"));
  if (preload == 0 && fleet.cameras.size() > 1) throw Error(ExitCode::Usage, kNeedsHeldFrames);
}

void LatencyArguments::check_assertions(const std::vector<std::string>& rows) const {
  for (const std::string& text : assertions) static_cast<void>(Assertion(text, rows));
}

void add_latency_options(CLI::App& command, LatencyArguments& arguments) {
  add_graph_arguments(command, arguments.graph);
  command.get_option("GRAPH")->required(false);
  command.get_option("--output")
      ->default_str("")
      ->description("Folder for what sinks write; without it they write into one that is removed in the end");
  command
      .add_option("--gst", arguments.gst,
                  "Measure this pipeline of GStreamer instead of a graph, a line as for gst-launch-1.0 "
                  "with the element contorno in it: from its source to its sinks")
      ->type_name("PIPELINE");
  add_load_options(command, arguments);
  add_judging_options(command, arguments);
  add_output_options(command, arguments);
}

}  // namespace contorno::latency
