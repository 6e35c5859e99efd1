// contorno gst: prints the line of gst-launch-1.0 that does what a graph does.
#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "config/load.h"
#include "plugins/extension.h"
#include "tools/commands/commands.h"
#include "tools/commands/gst_line.h"
#include "tools/say.h"

namespace contorno {
namespace {

struct GstArguments {
  std::string graph, input, output = ".";
};

int print_line(const GstArguments& arguments, const Catalog& catalog) {
  if (arguments.graph == "-")
    throw Error(ExitCode::Usage,
                "the element reads the graph itself, so it has to be a file, not standard input");
  config::LoadOptions options;
  if (!arguments.input.empty()) options.input = arguments.input;
  const GstLine line = gst_line(config::load_graph(arguments.graph, catalog, options),
                                {arguments.graph, arguments.output, extension_files(catalog)});
  for (const std::string& note : line.notes) say(note);
  print(std::string_view(line.text + "\n"));
  return 0;
}

}  // namespace

void add_gst_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<GstArguments>();
  CLI::App* command =
      app.add_subcommand("gst", "Print the line of gst-launch-1.0 that does what a graph does");
  command->add_option("GRAPH", arguments->graph, "Graph file (YAML)")->type_name("FILE.yaml")->required();
  command
      ->add_option("--input", arguments->input,
                   "What the source reads, instead of the graph's (file, URI, device)")
      ->type_name("FILE");
  command->add_option("--output", arguments->output, "Folder for the files that are written")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return print_line(*arguments, catalog); };
  });
}

}  // namespace contorno
