// contorno stages and contorno schema: what graphs may be made of, for people and for editors.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "config/describe.h"
#include "config/schema.h"
#include "cuda/error.h"
#include "tools/commands.h"
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
  command->add_option("NAME", *name, "A stage, source, sink or section");
  command->callback([&action, &catalog, name] {
    action = [&catalog, name] {
      return show(name->empty() ? config::help_overview(catalog, terminal_style())
                                : config::help_text(catalog, *name, terminal_style()));
    };
  });
}

void add_schema_command(CLI::App& app, const Catalog& catalog, Action& action) {
  app.add_subcommand("schema", "Print the JSON schema of graph files, for editors")
      ->callback([&action, &catalog] {
        action = [&catalog] { return show(config::schema(catalog).dump(1) + "\n"); };
      });
}

}  // namespace contorno
