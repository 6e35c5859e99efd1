#include "tools/commands/command_pages.h"

#include <CLI/CLI.hpp>

namespace contorno {
namespace {

/// Takes "{auto,cpu,cuda}" off the end of a type name, and returns the words.
std::vector<std::string> take_choices(std::string& type) {
  const std::size_t brace = type.find(":{");
  if (brace == std::string::npos || !type.ends_with('}')) return {};
  std::vector<std::string> words = CLI::detail::split(type.substr(brace + 2, type.size() - brace - 3), ',');
  type.resize(brace);
  return words;
}

CommandOption described(const CLI::Option& option) {
  CommandOption result;
  if (option.get_positional()) {
    result.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  }
  if (option.get_type_size() != 0) {
    result.value = option.get_type_name();
    result.choices = take_choices(result.value);
    result.fallback = option.get_default_str();
  }
  result.sentence = option.get_description();
  result.required = option.get_required();
  result.repeatable = option.get_expected_max() > 1;
  return result;
}

CommandPage page_of(const CLI::App& app) {
  CommandPage page{.name = app.get_name(),
                   .summary = app.get_description(),
                   .footer = app.get_footer(),
                   .arguments = {},
                   .options = {}};
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? page.arguments : page.options).push_back(described(*option));
  return page;
}

}  // namespace

ProgramPages program_pages(const CLI::App& app) {
  ProgramPages pages{.program = page_of(app), .commands = {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    pages.commands.push_back(page_of(*command));
  return pages;
}

}  // namespace contorno
