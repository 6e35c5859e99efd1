// contorno clean: a list of steps on the contours of a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

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

const StageType& step_called(const std::string& name, const std::string& given) {
  std::vector<std::string> names;
  for (const StageType* type : contour_steps()) {
    if (type->name == name) return *type;
    names.push_back(type->name);
  }
  const std::string near = nearest(name, names);
  throw Error(
      ExitCode::Usage,
      fmt::format("--step '{}': there is no step '{}'{}; the steps are {}", given, name,
                  near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(names, ", ")));
}

/// "merge_close distance=4": the name of a step, then its parameters.
StepSpec step_of(const std::string& given, const Catalog& catalog) {
  std::istringstream words(given);
  std::string word;
  words >> word;
  const StageType& type = step_called(word, given);
  std::vector<std::pair<std::string, std::string>> settings;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw Error(ExitCode::Usage, fmt::format("--step '{}': '{}' is no NAME=VALUE", given, word));
    settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
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
  CLI::App* command = app.add_subcommand("clean", "Run steps of contour_prep on a .jsonl file of contours");
  command->add_option("IN", arguments->input, "Contours as JSON lines (.jsonl)")->required();
  command->add_option("OUT", arguments->output, "File to write: .jsonl, .geojson or .json (COCO)")
      ->required();
  command
      ->add_option("--step", arguments->steps,
                   "A step and its parameters, 'drop_small min_points=4'; in this order")
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
