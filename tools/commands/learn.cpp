// contorno learn: reference colours for the classify stage from example frames, as a graph that can be run,
// with pictures to judge it by.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "base/error.h"
#include "config/load.h"
#include "tools/apply_files.h"
#include "tools/commands/commands.h"
#include "tools/commands/number_options.h"
#include "tools/learn/colours.h"
#include "tools/learn/frames.h"
#include "tools/learn/graph.h"
#include "tools/learn/picks.h"
#include "tools/learn/pictures.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

enum class Existing : std::uint8_t { Refuse, Replace };

struct LearnArguments {
  std::string frames, masks, output = "colours.yaml";
  std::vector<std::string> classes, hidden, picks;
  int frame_limit = 16;
  bool force = false;
  LearnParams params;
};

/// What learn writes: a graph and pictures of the same stem beside it.
struct LearnFiles {
  explicit LearnFiles(const fs::path& output)
      : graph(output),
        swatches(beside("-swatches.png")),
        overlay(beside("-overlay.png")),
        frames(beside("-frames.png")) {}
  fs::path graph, swatches, overlay, frames;

 private:
  fs::path beside(const char* ending) const { return graph.parent_path() / (graph.stem().string() + ending); }
};

/// Refuses to replace a file that is there already, before any work.
void check_may_be_written(const fs::path& path, const std::string& input, Existing existing) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) return;
  if (fs::equivalent(path, input, ignored))
    throw Error(ExitCode::CannotCreate,
                fmt::format("learn: {} is the input and is never written", path.string()));
  if (existing == Existing::Refuse)
    throw Error(
        ExitCode::CannotCreate,
        fmt::format("learn: {} is there already; name another file with --output, or replace it with --force",
                    path.string()));
}

std::vector<Pick> picks_of(const LearnArguments& arguments) {
  std::vector<Pick> picks;
  for (const std::string& text : arguments.picks) picks.push_back(parse_pick(text));
  if (!picks.empty() && !arguments.masks.empty())
    throw Error(ExitCode::Usage, "--pick and --masks both say what belongs to a class; give one of them");
  return picks;
}

/// --classes, else the names that were picked, as they come.
std::vector<std::string> class_names(const LearnArguments& arguments, const std::vector<Pick>& picks) {
  std::vector<std::string> names = arguments.classes;
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    throw Error(ExitCode::Usage, "--classes has a name twice");
  std::vector<std::string> picked;
  for (const Pick& pick : picks) {
    if (pick.name == kEverythingElse)
      throw Error(ExitCode::Usage,
                  fmt::format("--pick {}: that is what the class of all that was not pointed "
                              "at is called; give yours another name",
                              pick.text));
    if (!has(picked, pick.name)) picked.push_back(pick.name);
  }
  if (names.empty()) names = picked;
  for (const std::string& name : picked)
    if (!has(names, name))
      throw Error(ExitCode::Usage, fmt::format("--pick {}: --classes does not list it", name));
  for (const std::string& name : names)
    if (!picks.empty() && !has(picked, name))
      throw Error(ExitCode::Usage, fmt::format("--classes lists '{}', but no --pick shows it", name));
  for (const std::string& name : arguments.hidden)
    if (!has(names, name))
      throw Error(ExitCode::Usage, fmt::format("--hidden {}: there is no such class", name));
  return names;
}

void write_picture(const fs::path& path, const Sheet& sheet, const Catalog& catalog) {
  OutputRegister files = command_files();
  save_image(path.string(), sheet.view(), catalog, files, "learn");
}

/// Without classes to learn: writes pictures of the frames, in which the user can point at things.
int show_frames(const LearnArguments& arguments, const ExampleFrames& examples, const LearnFiles& files,
                const Catalog& catalog) {
  write_picture(files.frames, frame_sheet(examples, nullptr), catalog);
  print(
      "wrote {}: {} frames with rulers\n"
      "next, point at what you look for: contorno learn {} --pick NAME@FRAME=X,Y,WIDTH,HEIGHT, as often as "
      "you like\n",
      files.frames.string(), examples.kept.size(), arguments.frames);
  return static_cast<int>(ExitCode::Ok);
}

/// The command line, for the graph's first comment.
std::string command_line(const LearnArguments& arguments) {
  std::string text = "contorno learn " + arguments.frames;
  for (const std::string& pick : arguments.picks) text += " --pick " + pick;
  const auto list = [&](const char* flag, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? flag : ",") + names[i];
  };
  list(" --classes ", arguments.classes);
  list(" --hidden ", arguments.hidden);
  if (!arguments.masks.empty()) text += " --masks " + arguments.masks;
  return printable_sentence(text);
}

void tell(const LearnArguments& arguments, const LearnedColours& learned) {
  constexpr double kGood = 0.8;
  const bool judged = !arguments.masks.empty() || !arguments.picks.empty();
  for (const LearnedClass& one : learned.classes) {
    print("{:16} {:>5} %  ", one.name, percent_text(one.share));
    for (const Colour& colour : one.references)
      print(" #{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
    print("\n");
  }
  for (const LearnedClass& one : learned.classes)
    if (judged && one.recall < kGood)
      warn(fmt::format(
          "only {:.0f} % of what was shown as '{}' looks most like it; the rest has the colours of another "
          "class",
          100 * one.recall, one.name));
}

int learn(const LearnArguments& arguments, const Catalog& catalog) {
  if (!arguments.masks.empty() && !fs::is_directory(arguments.masks))
    throw Error(ExitCode::MissingInput, fmt::format("learn: there is no folder {}", arguments.masks));
  ExampleRequest request{
      .location = arguments.frames, .masks = arguments.masks, .limit = arguments.frame_limit};
  request.picks = picks_of(arguments);
  request.classes = class_names(arguments, request.picks);
  const LearnFiles files(arguments.output);
  const Existing existing = arguments.force ? Existing::Replace : Existing::Refuse;
  const std::vector<fs::path> targets =
      request.classes.empty() ? std::vector<fs::path>{files.frames}
                              : std::vector<fs::path>{files.graph, files.swatches, files.overlay};
  for (const fs::path& path : targets) check_may_be_written(path, arguments.frames, existing);

  const ExampleFrames examples = read_examples(request, catalog);
  if (examples.looked_at == 0)
    throw Error(ExitCode::BadData, fmt::format("learn: {} gave no frame{} to learn from", arguments.frames,
                                               arguments.masks.empty() ? "" : " with a mask"));
  OutputRegister outputs = command_files();
  for (const std::string& file : examples.files) outputs.add_input(file, "an example");
  for (const fs::path& path : targets) outputs.claim(path, "learn");
  for (const fs::path& path : targets)
    if (std::error_code error; arguments.force && fs::exists(path, error))
      say(fmt::format("--force replaces '{}'", printable_sentence(path.string())));
  if (request.classes.empty()) return show_frames(arguments, examples, files, catalog);
  LearnedColours learned = learn_colours(examples.samples, request.classes,
                                         !request.picks.empty()     ? Examples::Picks
                                         : !arguments.masks.empty() ? Examples::Masks
                                                                    : Examples::Frames,
                                         arguments.params);
  for (LearnedClass& one : learned.classes)
    one.hidden = one.hidden || std::find(arguments.hidden.begin(), arguments.hidden.end(), one.name) !=
                                   arguments.hidden.end();
  const std::string text = graph_text({.file = arguments.output,
                                       .location = arguments.frames,
                                       .how = command_line(arguments),
                                       .lightness = arguments.params.lightness,
                                       .frame_width = examples.kept.front().view.format.width,
                                       .learned = learned});
  const GraphSpec graph = config::load_graph_text(text, arguments.output, catalog);
  write_text_file(files.graph.string(), text);
  write_picture(files.swatches, swatch_sheet(learned, graph, examples), catalog);
  write_picture(files.overlay, frame_sheet(examples, &graph), catalog);
  tell(arguments, learned);
  print("{} samples of {} frames; wrote {}, and to judge it by {} and {}\n", examples.samples.size(),
        examples.looked_at, files.graph.string(), files.swatches.filename().string(),
        files.overlay.filename().string());
  return static_cast<int>(ExitCode::Ok);
}

void add_tuning(CLI::App& command, LearnParams& params) {
  add_number(command, "--sigma", params.sigma, 1e-3, 1,
             "Width of the kernel in oklab: colours nearer than that gather in one reference. "
             "Without masks and picks it shrinks until there are enough");
  add_whole_number(command, "--references", params.references, 1, 64, "Most references a class");
  add_number(command, "--min-share", params.min_share, 0, 1,
             "Share of a class's pixels that a reference must stand for. Without masks and picks of all "
             "pixels, and the less the farther its colour is from all others");
}

}  // namespace

void add_learn_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<LearnArguments>();
  CLI::App* command = app.add_subcommand("learn",
                                         "Propose reference colours for classes from example frames, as a "
                                         "graph; without classes, show the frames");
  command->add_option("FRAMES", arguments->frames, "Picture, folder, glob or video with examples")
      ->type_name("FILE")
      ->required();
  command
      ->add_option(
          "--pick", arguments->picks,
          "NAME=X,Y,W,H or NAME@FRAME=X,Y,W,H: a rectangle of px that shows class NAME, on frame number "
          "FRAME (from 0) or the picture of that name; may be repeated. What was not pointed at becomes a "
          "hidden class")
      ->allow_extra_args(false);
  command
      ->add_option("--classes", arguments->classes,
                   "Names, by commas. With masks in the order of the masks' values; without masks and picks, "
                   "the most frequent colours first")
      ->delimiter(',');
  command
      ->add_option("--masks", arguments->masks,
                   "Folder of masks: NAME.png, NAME_labels.png or .npy for each frame NAME; value k "
                   "= class k, from 0; other values are left out")
      ->type_name("FOLDER");
  command->add_option("--hidden", arguments->hidden, "Classes that are found but not drawn, by commas")
      ->delimiter(',');
  command
      ->add_option("-o,--output", arguments->output,
                   "Graph to write; the pictures NAME-swatches.png and NAME-overlay.png come beside it")
      ->type_name("FILE.yaml")
      ->capture_default_str();
  command->add_flag("--force", arguments->force, "Replace files that are there already");
  add_whole_number(*command, "--frames", arguments->frame_limit, 1, 100000,
                   "Most frames to look at, spread over all");
  add_tuning(*command, arguments->params);
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return learn(*arguments, catalog); };
  });
}

}  // namespace contorno
