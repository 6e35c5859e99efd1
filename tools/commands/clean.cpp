// contorno clean: a list of steps on the contours of a file.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "stages/contour_prep/stage.h"
#include "tools/apply_contours.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/commands/step_options.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct CleanArguments {
  std::string input, output, backend = "auto";
  std::vector<std::string> steps;
  int threads = 0;
};

int clean(const CleanArguments& arguments, const Catalog& catalog) {
  const StageType& type = contour_prep_stage();
  const ParamSet params = params_of_steps(arguments.steps, catalog);
  OutputRegister files = command_files();
  files.add_input(arguments.input, "IN");
  files.add_inputs(params, "a step");
  apply_to_file({.type = type,
                 .params = params,
                 .backend = backend_called(arguments.backend),
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
      ->type_name("FILE.jsonl|geojson|json")
      ->required();
  command->add_option("OUT", arguments->output, "File to write: .jsonl, .geojson or .json (COCO)")
      ->type_name("FILE.jsonl|geojson|json")
      ->required();
  add_steps(*command, arguments->steps)->required();
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  command->footer("'contorno stages STEP' lists a step's parameters.");
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return clean(*arguments, catalog); };
  });
}

}  // namespace contorno
