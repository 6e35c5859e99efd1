// contorno stages, contorno schema and contorno help: what graphs may be made of, for people and for editors.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "config/describe.h"
#include "tools/commands/commands.h"
#include "tools/say.h"

namespace contorno {
namespace {

config::TextStyle terminal_style() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  const bool wanted = (no_colour == nullptr || *no_colour == '\0') && !dumb && ::isatty(STDOUT_FILENO) == 1;
  return wanted ? config::TextStyle::Coloured : config::TextStyle::Plain;
}

int show(const std::string& text) {
  print(text);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_stages_command(CLI::App& app, const Catalog& catalog, Action& action) {
  CLI::App* command = app.add_subcommand("stages", "List what graphs are made of, or explain one of them");
  auto name = std::make_shared<std::string>();
  command
      ->add_option("NAME", *name,
                   "A stage, source, sink or section; or sources, stages or sinks, for a list of them")
      ->type_name("PART");
  command->callback([&action, &catalog, name] {
    action = [&catalog, name] {
      return show(name->empty() ? config::help_overview(catalog, terminal_style())
                                : config::help_text(catalog, *name, terminal_style()));
    };
  });
}

void add_schema_command(CLI::App& app, const Catalog& catalog, Action& action) {
  app.add_subcommand("schema", "Print the JSON schema of graph files, for editors")
      ->callback([&action, &catalog] { action = [&catalog] { return show(config::schema_text(catalog)); }; });
}

void add_help_command(CLI::App& app, const Catalog& catalog, Action& action) {
  CLI::App* command = app.add_subcommand("help", "Explain a command, or a stage, source, sink or section");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "What is to be explained")->type_name("COMMAND|PART");
  command->callback([&app, &action, &catalog, name] {
    action = [&app, &catalog, name] {
      std::vector<std::string> commands;
      for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
        commands.push_back(one->get_name());
      // A command may have the name of a part of graphs: gst.
      const bool is_command = std::find(commands.begin(), commands.end(), *name) != commands.end();
      try {
        const std::string part = config::help_text(catalog, *name, terminal_style());
        return show((is_command ? app.get_subcommand(*name)->help(app.get_name()) + "\n" : "") + part);
      } catch (const Error&) {
        const std::string near = nearest(*name, commands);
        if (near.empty()) throw;
        throw Error(ExitCode::Usage, fmt::format("there is no command '{}' (did you mean '{}'?); 'contorno "
                                                 "--help' lists all",
                                                 *name, near));
      }
    };
  });
}

}  // namespace contorno
