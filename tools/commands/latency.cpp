// contorno latency: does this graph, on this machine, hold its deadline at its rate?
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "config/load.h"
#include "cuda/device.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/media/media.h"
#include "tools/commands/allocation_counter.h"
#include "tools/commands/commands.h"
#include "tools/commands/graph_argument.h"
#include "tools/commands/latency_options.h"
#include "tools/interrupt.h"
#include "tools/latency/compare.h"
#include "tools/latency/environment.h"
#include "tools/latency/pipeline.h"
#include "tools/latency/search.h"
#include "tools/latency/show.h"
#include "tools/say.h"
#include "tools/text_file.h"
#include "tools/transient_folder.h"

namespace contorno::latency {
namespace {

/// The files of a command line; each is begun before the work, so that it cannot fail after it.
class Outputs {
 public:
  explicit Outputs(const LatencyArguments& arguments) : files_(command_files()) {
    if (!arguments.graph.graph.empty()) files_.add_input(arguments.graph.graph, "the graph");
    for (const std::string& from : arguments.from) files_.add_input(from, "--from");
    files_.add_input(arguments.compare, "--compare");
    begin(arguments.report, "--report");
    begin(arguments.html, "--html");
    begin(arguments.trace, "--trace");
    begin(arguments.csv, "--csv");
  }
  void write(std::string_view flag, const std::string& text) {
    const auto found = opened_.find(flag);
    if (found == opened_.end()) return;
    found->second.write(text);
    found->second.complete();
  }
  bool wanted(std::string_view flag) const { return opened_.find(flag) != opened_.end(); }
  void say_replaced_files() const { say_replaced(files_); }

 private:
  void begin(const std::string& path, const char* flag) {
    if (!path.empty()) opened_.emplace(flag, open_named_file(files_, path, flag));
  }
  OutputRegister files_;
  std::map<std::string, OutputFile, std::less<>> opened_;
};

/// What a measurement leaves beside its report.
struct MeasuredGraph {
  LatencyReport report;
  std::vector<Measurement> repeats;
  GraphSpec graph;
  int signal = 0;
};

double deadline_of(const LatencyArguments& arguments, const GraphSpec& graph, double rate) {
  if (arguments.deadline_ms > 0) return arguments.deadline_ms;
  if (graph.settings.deadline_ms > 0) return graph.settings.deadline_ms;
  return 1e3 / rate;
}

/// The sources of a graph, what was read of them beforehand, and the cameras that are measured with it.
class OpenCameras {
 public:
  OpenCameras(const LatencyArguments& arguments, FleetSpec& fleet) {
    constexpr std::size_t kMostHeld = std::size_t{1} << 30;
    for (CameraSpec& camera : fleet.cameras) {
      const std::string who = camera.name.empty() ? "" : camera.name + ": ";
      try {
        const BackendChoice backend = choose_backend(camera.graph.settings.backend, camera.graph);
        auto [source, notice] = config::open_source(camera.graph);
        if (!notice.empty()) say("note: " + who + notice);
        add(arguments, camera, backend, std::move(source), kMostHeld / fleet.cameras.size());
      } catch (const Error& error) {
        if (who.empty()) throw;
        throw Error(error.code(), who + error.what());
      }
    }
  }
  const std::vector<BenchCamera>& cameras() const { return cameras_; }
  std::uint64_t held_frames() const {
    std::uint64_t sum = 0;
    for (const auto& held : held_) sum += held->size();
    return sum;
  }
  /// What was read beforehand, by its checksum; empty where nothing was.
  std::string input() const {
    if (held_.empty()) return "";
    std::string sums;
    for (const auto& held : held_) sums += fmt::format("{}{:08x}", sums.empty() ? "" : " ", held->checksum());
    return fmt::format("CRC-32 {} of the {} frames held in memory", sums, held_frames());
  }
  /// The devices that may work, by number.
  std::vector<int> devices() const {
    std::vector<int> numbers;
    const auto add = [&](int number) {
      if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
    };
    for (const BenchCamera& camera : cameras_) {
      if (camera.backend.backend != Backend::Cuda) continue;
      if (camera.graph->settings.backend.device != BackendRequest::kAll)
        add(camera.backend.device);
      else
        for (const DeviceInfo& one : device_report().devices) add(one.index);
    }
    return numbers;
  }
  double shortest_deadline_ms() const {
    return std::min_element(
               cameras_.begin(), cameras_.end(),
               [](const BenchCamera& a, const BenchCamera& b) { return a.deadline_ms < b.deadline_ms; })
        ->deadline_ms;
  }

 private:
  void add(const LatencyArguments& arguments, const CameraSpec& camera, const BackendChoice& backend,
           std::unique_ptr<Source> source, std::size_t most_bytes) {
    BenchCamera made{.graph = &camera.graph, .backend = backend, .source = source.get()};
    double rate = arguments.rate();
    if (!camera.name.empty()) {
      const StreamFormat& format = source->format();
      if (arguments.fps == 0 && format.rate_numerator > 0)
        rate = static_cast<double>(format.rate_numerator) / format.rate_denominator;
      made.rate = arguments.mode == Mode::Single ? arguments.fps : rate;
    }
    made.deadline_ms = deadline_of(arguments, camera.graph, rate);
    if (arguments.preload > 0) {
      held_.push_back(
          std::make_unique<HeldFrames>(*source, static_cast<std::size_t>(arguments.preload), most_bytes));
      made.held = held_.back().get();
      made.source = nullptr;
    }
    sources_.push_back(std::move(source));
    cameras_.push_back(std::move(made));
  }

  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<HeldFrames>> held_;
  std::vector<BenchCamera> cameras_;
};

Settings settings_of(const LatencyArguments& arguments, const GivenText& given, const OpenCameras& opened) {
  Settings settings;
  settings.mode = arguments.mode;
  settings.deadline_ms = opened.shortest_deadline_ms();
  settings.hold_share = arguments.hold_percent / 100;
  settings.until = arguments.until;
  settings.sinks = !arguments.no_sinks;
  settings.held_frames = opened.held_frames();
  settings.graph_file = given.name;
  settings.graph_text = given.text;
  settings.overrides = arguments.graph.overrides;
  return settings;
}

Load load_of(const LatencyArguments& arguments, const Bench& bench) {
  Load load = arguments.load(bench.cameras.front().backend.backend);
  if (bench.fleet != nullptr) load.cameras = static_cast<int>(bench.cameras.size());
  return load;
}

/// The measurements of the mode; a search measures what it found, and gives what it tried.
std::vector<Measurement> measure_mode(const LatencyArguments& arguments, const Bench& bench,
                                      const Settings& settings, std::vector<Trial>& trials) {
  Load load = load_of(arguments, bench);
  if (arguments.searches()) {
    Searched found = arguments.mode == Mode::Saturate
                         ? search_rate(bench, load, settings)
                         : search_cameras(bench, load, settings, arguments.most_cameras);
    trials = std::move(found.trials);
    if (!found.best)
      throw Error(
          ExitCode::Unavailable,
          fmt::format("no {} holds {:g} ms: the last that was tried had {} of {} frames that missed it, "
                      "and half of them took {:.4g} ms or less",
                      arguments.mode == Mode::Saturate ? "rate" : "number of cameras", settings.deadline_ms,
                      trials.back().misses, trials.back().offered, trials.back().p50_ms));
    std::vector<Measurement> best;
    best.push_back(std::move(*found.best));
    return best;
  }
  std::vector<Measurement> repeats;
  for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
    // Other arrivals each time, or repeats would say nothing of what these cost.
    load.seed = arguments.seed + static_cast<std::uint64_t>(repeat);
    repeats.push_back(measure(bench, load));
    if (repeats.back().signal != 0) break;
  }
  return repeats;
}

MeasuredGraph measure_graph(const LatencyArguments& arguments, const Catalog& catalog) {
  const std::optional<TransientFolder> temporary =
      arguments.graph.output.empty() ? std::make_optional<TransientFolder>("latency") : std::nullopt;
  GraphArguments graph_arguments = arguments.graph;
  if (temporary) graph_arguments.output = temporary->path();
  make_output_folder(graph_arguments.output);
  GivenFleet given = load_given_fleet(graph_arguments, catalog, forced_backend(arguments.backend));
  arguments.check_cameras(given.fleet);
  if (!given.made_for.empty() && !arguments.quiet) say(given.made_for);
  const OpenCameras opened(arguments, given.fleet);
  const std::vector<int> devices = opened.devices();
  Facts environment = environment_of(devices);
  arguments.check_assertions(row_names(given.fleet));
  if (const std::string input = opened.input(); !input.empty()) environment.emplace_back(kInput, input);
  const Bench bench{.cameras = opened.cameras(),
                    .fleet = given.fleet.is_named() ? &given.fleet : nullptr,
                    .with_sinks = !arguments.no_sinks,
                    .output_folder = graph_arguments.output,
                    .quiet = arguments.quiet,
                    .graph_name = given.name};
  const Settings settings = settings_of(arguments, given, opened);
  MeasuredGraph result;
  const InterruptGuard guard;  // over all measurements, and what lies between them
  std::vector<Trial> trials;
  result.repeats = measure_mode(arguments, bench, settings, trials);
  result.report = summarise(bench.graph(), settings, result.repeats,
                            {.worst = static_cast<std::size_t>(arguments.worst)});
  result.report.trials = std::move(trials);
  result.signal = InterruptGuard::requested();
  if (arguments.preload > 0 && !arguments.no_probe_cost && !arguments.searches() && result.signal == 0) {
    const double frame_ms = result.report.counted().percentile(0.5).ms;
    const Load load = load_of(arguments, bench);
    result.report.probe_cost = probe_cost(bench, load, frame_ms);
    if (counts_allocations())
      result.report.allocations = frame_allocations(bench, load, frame_ms, &allocations_so_far);
  }
  if (!devices.empty())
    if (const std::string state = device_state(devices); !state.empty())
      environment.emplace_back("device after", state);
  result.report.environment = std::move(environment);
  result.graph = std::move(given.fleet.cameras.front().graph);
  return result;
}

MeasuredGraph measure_line(const LatencyArguments& arguments) {
  constexpr double kDeadline_ms = 100;
  Facts environment = environment_of({});
  const double deadline_ms = arguments.deadline_ms > 0 ? arguments.deadline_ms : kDeadline_ms;
  MeasuredPipeline measured =
      measure_pipeline(arguments.gst, arguments.load(Backend::Cpu), deadline_ms, arguments.quiet);
  environment.emplace_back("GStreamer", media_report().version);
  Settings settings;
  settings.mode = Mode::Pipeline;
  settings.deadline_ms = deadline_ms;
  settings.hold_share = arguments.hold_percent / 100;
  settings.until = Until::Sinks;
  settings.graph_file = "a pipeline of GStreamer";
  settings.graph_text = arguments.gst;
  MeasuredGraph result;
  result.report = summarise(measured, settings, {.worst = static_cast<std::size_t>(arguments.worst)});
  result.report.environment = std::move(environment);
  result.signal = measured.measurement.signal;
  result.graph = std::move(measured.graph);
  result.repeats.push_back(std::move(measured.measurement));
  return result;
}

MeasuredGraph read_reports(const LatencyArguments& arguments) {
  MeasuredGraph result;
  for (const std::string& file : arguments.from) {
    LatencyReport one = report_from(read_text_file(file), file);
    if (&file == &arguments.from.front())
      result.report = std::move(one);
    else
      merge(result.report, one);
  }
  return result;
}

Judgement judge(const LatencyArguments& arguments, const LatencyReport& report) {
  Judgement judgement{.verdict = verdict_of(report), .assertions = {}};
  for (const std::string& text : arguments.assertions)
    judgement.assertions.push_back(Assertion(text, {}).check(report));
  return judgement;
}

int exit_code(const Judgement& judgement, const std::optional<Comparison>& comparison, int signal) {
  if (signal != 0) return 128 + signal;
  const auto any = [&](Assertion::State state) {
    return std::any_of(judgement.assertions.begin(), judgement.assertions.end(),
                       [&](const Assertion::Answer& answer) { return answer.state == state; });
  };
  if (judgement.verdict.state == Verdict::State::Fail || any(Assertion::State::Failed)) return kExitFailed;
  if (comparison && comparison->worse()) return kExitWorse;
  return any(Assertion::State::TooFew) ? kExitTooFew : 0;
}

}  // namespace

static int run_latency(const LatencyArguments& arguments, const Catalog& catalog) {
  arguments.check();
  // Read before the work: a report that cannot be compared with is told at once.
  std::optional<LatencyReport> old;
  if (!arguments.compare.empty()) old = report_from(read_text_file(arguments.compare), arguments.compare);
  Outputs outputs(arguments);
  const MeasuredGraph measured = !arguments.gst.empty()   ? measure_line(arguments)
                                 : arguments.from.empty() ? measure_graph(arguments, catalog)
                                                          : read_reports(arguments);
  const Judgement judgement = judge(arguments, measured.report);
  std::optional<Comparison> comparison;
  if (old) comparison = compare(*old, measured.report, arguments.tolerance_percent / 100);
  if (comparison) print(std::string_view(warning_of(*comparison)));
  outputs.write("--report", json_of(measured.report, judgement));
  outputs.write("--html", html_of(measured.report, judgement));
  if (outputs.wanted("--csv")) outputs.write("--csv", csv_of(measured.graph, measured.repeats));
  if (outputs.wanted("--trace"))
    outputs.write("--trace", trace_of(measured.graph, measured.repeats, measured.report.settings.until,
                                      static_cast<std::size_t>(arguments.worst)));
  if (!arguments.quiet || judgement.verdict.state == Verdict::State::Fail)
    print(std::string_view(table_of(measured.report, judgement)));
  if (comparison) print(std::string_view(table_of(*comparison)));
  outputs.say_replaced_files();
  return exit_code(judgement, comparison, measured.signal);
}

}  // namespace contorno::latency

namespace contorno {

void add_latency_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<latency::LatencyArguments>();
  CLI::App* command = app.add_subcommand(
      "latency", "Measure whether a graph holds its deadline at a rate, and by what margin");
  latency::add_latency_options(*command, *arguments);
  command->callback([arguments, command, &catalog, &action] {
    arguments->given = given_options(*command);
    action = [arguments, &catalog] { return latency::run_latency(*arguments, catalog); };
  });
}

}  // namespace contorno
