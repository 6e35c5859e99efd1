// contorno clean: a list of steps on the contours of a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string_view>

#include "config/options.h"
#include "cuda/error.h"
#include "pipeline/graph/steps.h"
#include "stages/contour_prep/stage.h"
#include "tools/apply_contours.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct CleanArguments {
  std::string input, output, backend = "auto";
  std::vector<std::string> steps;
  int threads = 0;
};

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n';
}

/// Where the value that begins at `begin` ends: at a blank, but not in a list or in quotes that it begins
/// with.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  if (end < text.size() && (text[end] == '\'' || text[end] == '"')) {
    end = std::min(text.find(text[begin], begin + 1), text.size());
  } else if (end < text.size() && text[end] == '[') {
    for (int depth = 0; end < text.size(); ++end) {
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      if (depth == 0) break;
    }
  }
  while (end < text.size() && !is_blank(text[end])) ++end;
  return end;
}

std::string without_quotes(std::string_view value) {
  const bool quoted = value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
                      value.find(value.front(), 1) == value.size() - 1;
  return std::string(quoted ? value.substr(1, value.size() - 2) : value);
}

[[noreturn]] void refuse_word(const StageType& type, std::string_view given, std::string_view word) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : type.params.specs) names.push_back(spec.name);
  throw Error(
      ExitCode::Usage,
      fmt::format("--step '{}': '{}' is not NAME=VALUE, as in 'drop_small min_points=4'; {}", given, word,
                  names.empty()
                      ? fmt::format("{} has no parameters", type.name)
                      : fmt::format("the parameters of {} are {}", type.name, fmt::join(names, ", "))));
}

/// "merge_close distance=4": the name of a step, then its parameters.
StepSpec step_of(std::string_view given, const Catalog& catalog) {
  const auto skip_blanks = [given](std::size_t at) {
    while (at < given.size() && is_blank(given[at])) ++at;
    return at;
  };
  const auto end_of_word = [given](std::size_t at) {
    while (at < given.size() && !is_blank(given[at])) ++at;
    return at;
  };
  std::size_t at = skip_blanks(0), end = end_of_word(at);
  const StageType& type = stage_called(contour_steps(), "step", given.substr(at, end - at));
  std::vector<std::pair<std::string, std::string>> settings;
  while ((at = skip_blanks(end)) < given.size()) {
    end = end_of_word(at);
    const std::size_t equals = given.find('=', at);
    if (equals == at || equals >= end) refuse_word(type, given, given.substr(at, end - at));
    end = end_of_value(given, equals + 1);
    settings.emplace_back(given.substr(at, equals - at),
                          without_quotes(given.substr(equals + 1, end - equals - 1)));
  }
  return {.type = &type,
          .params = config::params_from_text(type.params, type.name, settings, catalog.read_mask)};
}

int clean(const CleanArguments& arguments, const Catalog& catalog) {
  auto steps = std::make_shared<std::vector<StepSpec>>();
  for (const std::string& step : arguments.steps) steps->push_back(step_of(step, catalog));
  const StageType& type = contour_prep_stage();
  ParamSet params(type.params);
  params.set("steps", SharedSteps(std::move(steps)));
  OutputRegister files = command_files();
  files.add_input(arguments.input, "IN");
  files.add_inputs(params, "a step");
  ParamSet pipeline(pipeline_params());
  pipeline.set("backend", arguments.backend);
  apply_to_file({.type = type,
                 .params = params,
                 .backend = pipeline.as<PipelineSettings>().backend,
                 .threads = arguments.threads},
                arguments.input, arguments.output, files);
  say_replaced(files);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_clean_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<CleanArguments>();
  CLI::App* command = app.add_subcommand("clean", "Run steps of contour_prep on a file of contours");
  command
      ->add_option("IN", arguments->input,
                   "Contours: JSON lines (.jsonl), or .geojson or .json, of which the content says whether "
                   "it is COCO or GeoJSON")
      ->required();
  command->add_option("OUT", arguments->output, "File to write: .jsonl, .geojson or .json (COCO)")
      ->required();
  command
      ->add_option(
          "--step", arguments->steps,
          "A step and its parameters, 'drop_small min_points=4'; in this order. Lists and what is in "
          "quotes may have blanks: 'exclude points=[12, 30.5] radius=3'")
      ->required()
      ->expected(1)
      ->take_all();
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  command->footer("'contorno stages STEP' lists a step's parameters.");
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return clean(*arguments, catalog); };
  });
}

}  // namespace contorno
