// contorno replay: the results of a graph on a dataset, recorded, or compared with a record.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "config/load.h"
#include "tools/commands/commands.h"
#include "tools/commands/given_options.h"
#include "tools/commands/graph_argument.h"
#include "tools/commands/number_options.h"
#include "tools/interrupt.h"
#include "tools/page.h"
#include "tools/replay/computation.h"
#include "tools/replay/difference_page.h"
#include "tools/replay/made_with.h"
#include "tools/replay/score_page.h"
#include "tools/replay/summary.h"
#include "tools/say.h"
#include "tools/text_file.h"
#include "tools/transient_folder.h"

namespace contorno {
namespace {

constexpr int kDifferent = 1;

struct ReplayArguments {
  GraphArguments graph;  // `output` is the folder that results are written to
  std::string backend, record, expect, keep, shard = "0/1", report, html;
  double tolerance = 0, speed = 1;
  std::uint64_t start = 0, stop = 0, worst = 12, loop = 1;
  LabelMeaning labels;
  std::vector<std::string> assertions;
  bool resume = false, overwrite = false, real_time = false, quiet = false;
  GivenOptions given;
};

ReplayOptions options_of(const ReplayArguments& arguments) {
  ReplayOptions options{.graph_file = arguments.graph.graph,
                        .start = arguments.start,
                        .stop = arguments.stop,
                        .shard = shard_of(arguments.shard),
                        .resume = std::nullopt,
                        .speed = std::nullopt,
                        .quiet = arguments.quiet};
  if (arguments.resume) options.resume = arguments.record;
  if (arguments.real_time) options.speed = arguments.speed;
  return options;
}

Replay prepared(const ReplayArguments& arguments, const ReplayOptions& options, const Catalog& catalog) {
  return prepare_replay(
      config::load_graph(
          arguments.graph.graph, catalog,
          {.overrides = arguments.graph.overrides,
           .input = arguments.graph.input.empty() ? std::nullopt : std::optional(arguments.graph.input),
           .backend = forced_backend(arguments.backend),
           .output_root = std::nullopt}),
      options);
}

int ended_by(int signal) {
  say("ended early; the frames that are complete stay in the record, and --resume goes on with the next one");
  return 128 + signal;
}

/// What another run has computed must not be taken for results of this one.
void refuse_kept(const std::filesystem::path& folder) {
  if (const auto frames = folder / "frames"; std::filesystem::exists(frames))
    throw Error(
        ExitCode::CannotCreate,
        fmt::format(
            "--keep is '{}', but '{}' may have the results of an earlier run; name another folder, or "
            "remove that one",
            printable(folder.string()), printable(frames.string())));
}

/// The places of a record, of those that this run takes; none where there is no record.
std::vector<std::uint64_t> places_in(const std::filesystem::path& record, const FrameSelection& selection) {
  std::vector<std::uint64_t> places;
  if (std::filesystem::exists(record / "frames")) places = recorded_places(record);
  std::erase_if(places, [&](std::uint64_t place) { return !selection.takes(place); });
  return places;
}

std::vector<std::uint64_t> united(std::vector<std::uint64_t> places, const std::vector<std::uint64_t>& more) {
  places.insert(places.end(), more.begin(), more.end());
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// Throws Error(Usage) for options that say something of truth where there is none.
void check_truth_options(const ReplayArguments& arguments, const Truth& truth) {
  for (const char* name : {"--first-label", "--unjudged-label", "--assert"})
    check_goes_with(arguments.given, name, truth.exists(), "a dataset that has truth");
}

/// Throws Error(Usage) for a limit that cannot be checked, before anything is computed.
std::vector<ScoreLimit> score_limits(const ReplayArguments& arguments, const Replay& replay) {
  std::vector<std::string> classes;
  for (const ClassSpec& spec : replay.graph.classes) classes.push_back(spec.name);
  std::vector<ScoreLimit> limits;
  for (const std::string& text : arguments.assertions) limits.emplace_back(text, classes);
  return limits;
}

/// What a run has found out about the results in a folder.
struct Findings {
  const Replay& replay;
  const Truth& truth;
  std::string folder;
  std::vector<ValueScores> scores;
  std::vector<ScoreLimit::Answer> limits;
  std::optional<RecordDifference> difference;
  std::string before;    ///< the record that they differ from
  double tolerance = 0;  ///< px

  Findings(const ReplayArguments& arguments, const Replay& of, const Truth& truth_of, std::string in)
      : replay(of), truth(truth_of), folder(std::move(in)), tolerance(arguments.tolerance) {
    if (truth.exists())
      scores = score_record(folder, places_in(folder, replay.whole), replay.values, replay.graph, truth);
    limits = check_scores(score_limits(arguments, replay), scores);
  }

  void write(const ReplayArguments& arguments) const {
    if (!arguments.report.empty())
      write_text_file(arguments.report,
                      report_json(difference ? &*difference : nullptr, tolerance, scores, limits));
    if (arguments.html.empty()) return;
    std::string sections;
    if (difference)
      sections += difference_section({.before = before,
                                      .after = folder,
                                      .values = replay.values,
                                      .tolerance = tolerance,
                                      .most = arguments.worst,
                                      .graph = replay.given,
                                      .placements = replay.placements},
                                     *difference);
    sections += score_section({.record = folder,
                               .values = replay.values,
                               .truth = truth,
                               .limits = limits,
                               .most = arguments.worst},
                              scores);
    write_text_file(arguments.html, html_page("contorno replay", "replay", sections));
  }

  /// Says on standard error which limits do not hold.
  void tell_limits(bool quiet) const {
    for (const ScoreLimit::Answer& answer : limits)
      if (!answer.held)
        say("--assert failed: " + answer.sentence);
      else if (!quiet)
        print("--assert held: {}\n", answer.sentence);
  }
  bool are_within_limits() const {
    return std::all_of(limits.begin(), limits.end(), [](const auto& answer) { return answer.held; });
  }
  bool are_all_scored() const {
    return std::all_of(scores.begin(), scores.end(),
                       [](const ValueScores& value) { return value.count_faults() == 0; });
  }
};

/// `failed`: frames that failed, and not as they were expected to.
int exit_code(const RunReport& report, const Findings& findings, std::size_t failed) {
  if (!findings.are_within_limits()) return kDifferent;
  const bool whole = failed == 0 && report.source_faults.empty() && findings.are_all_scored();
  return static_cast<int>(whole ? ExitCode::Ok : ExitCode::FramesFailed);
}

/// Computes once more, and compares with the record `before`.
int compare_with(const ReplayArguments& arguments, const Catalog& catalog, const std::string& before,
                 double tolerance, std::uint64_t round) {
  ReplayOptions options = options_of(arguments);
  options.resume.reset();
  Replay replay = prepared(arguments, options, catalog);
  std::optional<TransientFolder> temporary;
  if (arguments.keep.empty())
    temporary.emplace("replay");
  else
    make_output_folder(arguments.keep);
  const std::string& folder = temporary ? temporary->path() : arguments.keep;
  // A frame that is lost now is not to be found among those of the round before.
  if (round > 1) remove_results(folder, results_of(folder, {}, replay.values));
  const Truth truth(replay.graph.source, arguments.labels);
  check_truth_options(arguments, truth);
  (void)score_limits(arguments, replay);
  const RunReport report = compute_replay(replay, folder, options);
  if (const int signal = InterruptGuard::requested(); signal != 0) return 128 + signal;
  const std::vector<std::uint64_t> places =
      united(places_in(before, replay.whole), places_in(folder, replay.whole));
  if (places.empty())
    throw Error(ExitCode::BadData,
                fmt::format("{}: the record has none of the frames that this run takes", printable(before)));
  Findings findings(arguments, replay, truth, folder);
  findings.difference = compare_records(before, folder, places, replay.values, tolerance);
  findings.difference->graph = differences_from_record(before, replay.given, replay.values);
  findings.before = before, findings.tolerance = tolerance;
  findings.write(arguments);
  const bool different = findings.difference->count(FrameVerdict::Different) > 0;
  if (!arguments.quiet || different) {
    if (arguments.loop > 1) print("round {} of {}: ", round, arguments.loop);
    print(difference_text(*findings.difference, tolerance, arguments.worst));
    print(score_text(findings.scores));
  }
  findings.tell_limits(arguments.quiet);
  // Frames that failed as the record says were expected to.
  return different ? kDifferent : exit_code(report, findings, 0);
}

/// The rounds from `first` on, until one of them differs.
int compare_rounds(const ReplayArguments& arguments, const Catalog& catalog, const std::string& before,
                   double tolerance, std::uint64_t first) {
  int code = 0;
  for (std::uint64_t round = first; round <= arguments.loop; ++round) {
    const int found = compare_with(arguments, catalog, before, tolerance, round);
    code = std::max(code, found);
    if (found == kDifferent || InterruptGuard::requested() != 0) return found;
  }
  return code;
}

/// The frames of a record that a run is for: all that there are, unless it takes a part of the dataset.
FrameSelection taken_frames(const ReplayArguments& arguments, const ReplayOptions& options,
                            const Replay& replay) {
  const bool is_part = arguments.start > 0 || arguments.stop > 0 || options.shard.count > 1;
  return is_part ? replay.whole : FrameSelection{};
}

EarlierResults earlier_results(const ReplayArguments& arguments) {
  if (arguments.resume) return EarlierResults::Keep;
  return arguments.overwrite ? EarlierResults::Remove : EarlierResults::Refuse;
}

/// `failed`: how many the record has of the frames that the run takes.
void tell_recorded(const ReplayArguments& arguments, const RunReport& report, std::size_t failed) {
  print("{}: {} frames recorded, {} failed\n", arguments.record, report.frames.delivered,
        report.frames.failed);
  if (failed > report.frames.failed)
    print("{}: {} more have failed before, and are not computed again\n", arguments.record,
          failed - report.frames.failed);
}

int record(const ReplayArguments& arguments, const Catalog& catalog) {
  const ReplayOptions options = options_of(arguments);
  Replay replay = prepared(arguments, options, catalog);
  const Truth truth(replay.graph.source, arguments.labels);
  if (!truth.exists() && !(arguments.report.empty() && arguments.html.empty()))
    throw Error(ExitCode::Usage, "--report and --html go with --expect, or with a dataset that has truth");
  check_truth_options(arguments, truth);
  (void)score_limits(arguments, replay);
  make_output_folder(arguments.record);
  prepare_record(arguments.record, taken_frames(arguments, options, replay),
                 made_with(replay.given, replay.values, arguments.record), replay.values,
                 earlier_results(arguments));
  const RunReport report = compute_replay(replay, arguments.record, options);
  if (const int signal = InterruptGuard::requested(); signal != 0) return ended_by(signal);
  if (!arguments.quiet) tell_recorded(arguments, report, count_failures(arguments.record, replay.whole));
  const Findings findings(arguments, replay, truth, arguments.record);
  findings.write(arguments);
  if (!arguments.quiet) print(score_text(findings.scores));
  findings.tell_limits(arguments.quiet);
  // Failures count also where an earlier run recorded them, with which this one goes on.
  const int code = exit_code(report, findings, count_failures(arguments.record, replay.whole));
  if (arguments.loop == 1) return code;
  // Nothing may change from round to round.
  const int later = compare_rounds(arguments, catalog, arguments.record, 0, 2);
  return later != 0 ? later : code;
}

int expect(const ReplayArguments& arguments, const Catalog& catalog) {
  (void)recorded_places(arguments.expect);  // that there is a record is seen before anything is computed
  return compare_rounds(arguments, catalog, arguments.expect, arguments.tolerance, 1);
}

int replay(const ReplayArguments& arguments, const Catalog& catalog) {
  if (arguments.record.empty() == arguments.expect.empty())
    throw Error(ExitCode::Usage,
                "give either --record DIR, to keep results, or --expect DIR, to compare with kept ones");
  const bool records = !arguments.record.empty();
  for (const char* name : {"--resume", "--overwrite"})
    check_goes_with(arguments.given, name, records, "--record");
  for (const char* name : {"--keep", "--tolerance"})
    check_goes_with(arguments.given, name, !records, "--expect");
  check_goes_with(arguments.given, "--worst", !records || !arguments.html.empty(), "--expect or --html");
  if (arguments.resume && arguments.overwrite)
    throw Error(ExitCode::Usage,
                "--resume keeps what the record has, --overwrite removes it: give one of them");
  if (!arguments.keep.empty()) refuse_kept(arguments.keep);
  if (!arguments.keep.empty() && arguments.loop > 1)
    say(fmt::format("--keep: each round removes its results of the round before from '{}'",
                    printable_sentence((std::filesystem::path(arguments.keep) / "frames").string())));
  return records ? record(arguments, catalog) : expect(arguments, catalog);
}

}  // namespace

void add_replay_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand(
      "replay", "Record the results of a graph on a dataset, or compare them with a record");
  command->add_option("GRAPH", arguments->graph.graph, "Graph as YAML; what its sinks take is recorded")
      ->type_name("FILE.yaml")
      ->required();
  command->add_option("DATASET", arguments->graph.input, "Replaces the input of the graph's source")
      ->type_name("FILE");
  command->add_option("--record", arguments->record, "Folder to keep the results in")->type_name("FOLDER");
  command->add_option("--expect", arguments->expect, "Folder of a record to compare the results with")
      ->type_name("FOLDER");
  command
      ->add_option("--keep", arguments->keep,
                   "With --expect: new folder to keep the results of the last round in")
      ->type_name("FOLDER");
  add_number(*command, "--tolerance", arguments->tolerance, 0, 1e9,
             "px that a contour may lie away from the recorded one; 0: everything must be equal");
  const auto add_count = [&](const char* name, std::uint64_t& value, const char* sentence) {
    add_whole_number(*command, name, 0, kUnbounded, sentence,
                     [&value](std::int64_t number) { value = static_cast<std::uint64_t>(number); });
  };
  add_count("--start", arguments->start, "Leave out so many frames at the beginning");
  add_count("--stop", arguments->stop, "Stop before this frame; 0 = at the end");
  command
      ->add_option(
          "--shard", arguments->shard,
          "PART/PARTS, as 0/8: every 8th frame from the first; parts share no frame and leave none out")
      ->type_name("PART/PARTS");
  command->add_flag("--resume", arguments->resume,
                    "With --record: go on behind the frames that the folder has");
  command->add_flag("--overwrite", arguments->overwrite,
                    "With --record: make results anew that the folder has of these frames");
  command->add_flag("--real-time", arguments->real_time,
                    "Frames come at the times they were recorded at; none is dropped");
  add_number(*command, "--speed", arguments->speed, 0.001, 1000,
             "So many times as fast as it was recorded; 1 is --real-time");
  add_whole_number(*command, "--loop", arguments->loop, 1, 1'000'000'000,
                   "So many rounds, each of which must have the results of the record");
  command
      ->add_option("--assert", arguments->assertions,
                   "What scores have to hold: iou>=0.9 of every class, CLASS.hausdorff<3; may be repeated")
      ->type_name("CONDITION");
  command
      ->add_option("--report", arguments->report,
                   "Write the differences and the scores as JSON; - is standard output")
      ->type_name("FILE.json");
  command->add_option("--html", arguments->html, "Write a page that shows the worst frames")
      ->type_name("FILE.html");
  add_count("--worst", arguments->worst, "How many of the worst frames are shown; 12 unless given");
  add_whole_number(
      *command, "--first-label", arguments->labels.first, 0, 65535,
      "The label of the graph's first class in label images of truth; those of the others follow");
  add_whole_number(*command, "--unjudged-label", arguments->labels.unjudged, 0, 65536,
                   "Pixels with this label do not count; 65536: all count");
  add_graph_overrides(*command, arguments->graph);
  add_graph_backend(*command, arguments->backend);
  command->add_flag("--quiet", arguments->quiet, "No progress, and no message where nothing differs");
  command->footer("Exit code 1: something differs by more than the tolerance, or an --assert does not hold.");
  command->callback([arguments, command, &catalog, &action] {
    arguments->given = given_options(*command);
    arguments->real_time |= is_given(arguments->given, "--speed");
    action = [arguments, &catalog] { return replay(*arguments, catalog); };
  });
}

}  // namespace contorno
