#include "tools/commands/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <sstream>

#include "base/error.h"
#include "config/describe.h"
#include "config/load.h"
#include "pipeline/graph/param.h"
#include "plugins/extension.h"
#include "tools/commands/commands.h"
#include "tools/commands/version.h"
#include "tools/process_limits.h"
#include "tools/say.h"

namespace contorno {
namespace {

/// " (did you mean 'NAME'?)", or nothing where no name is near.
std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

/// Refuses a first word that is no command. The library would only say that a command is missing.
void refuse_unknown_command(const CLI::App& app, const std::string& word) {
  const bool is_option = word.starts_with('-');
  std::vector<std::string> names;
  if (is_option)
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
  else
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw Error(ExitCode::Usage, fmt::format("there is no {} '{}'{}; 'contorno --help' lists all",
                                           is_option ? "option" : "command", word, meant(word, names)));
}

/// "'contorno run --help' lists all", of the command that was chosen.
std::string where_all_is_listed(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return fmt::format("'contorno{}{} --help' lists all", chosen.empty() ? "" : " ",
                     chosen.empty() ? "" : chosen.front()->get_name());
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Words that nobody takes, with the option that is nearest to them.
[[noreturn]] void refuse_extras(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> names, positionals, refused;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (option->get_positional()) positionals.push_back(option->get_name());
  }
  for (const std::string& word : command.remaining()) {
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with("-"))
      refused.push_back(fmt::format("there is no option '{}'{}", name, meant(name, names)));
    else if (refused.empty())
      refused.push_back(fmt::format("'{}' is one word too many{}", word,
                                    positionals.empty() ? "" : ", wanted is only " + joined(positionals)));
  }
  throw Error(ExitCode::Usage, fmt::format("{}; {}", joined(refused), where_all_is_listed(app)));
}

/// An option that may come again takes one value each time, or it would swallow the words behind it.
void take_one_value_each(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options())
      if (!option->get_positional() && option->get_expected_max() > 1) option->allow_extra_args(false);
}

/// Whether a part of graphs has this name.
bool is_in_graphs(const Catalog& catalog, const std::string& name) {
  try {
    config::help_text(catalog, name, config::TextStyle::Plain);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// `help run` is `run --help`. For other words, and those that mean a part of graphs too, the command `help`
/// looks further.
std::vector<std::string> without_help_command(const CLI::App& app, const Catalog& catalog,
                                              std::vector<std::string> words) {
  if (words.empty() || words[0] != "help") return words;
  if (words.size() == 1) return {"--help"};
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool known = std::any_of(commands.begin(), commands.end(),
                                 [&](const CLI::App* command) { return command->get_name() == words[1]; });
  return known && !is_in_graphs(catalog, words[1]) ? std::vector<std::string>{words[1], "--help"} : words;
}

constexpr std::string_view kLoad = "--load";

bool is_load(const std::string& word) {
  return word.starts_with(kLoad) && (word.size() == kLoad.size() || word[kLoad.size()] == '=');
}

/// The files of the options --load, which are taken from the words from `begin` on, before `end`: what they
/// add to graphs has to be known before the words of a command are read.
std::vector<std::string> take_files_to_load(std::vector<std::string>& words, std::size_t begin,
                                            std::size_t end) {
  std::vector<std::string> files;
  std::size_t taken = begin;
  for (; taken < end && is_load(words[taken]); ++taken) {
    const std::string& word = words[taken];
    if (word.size() > kLoad.size())
      files.push_back(word.substr(kLoad.size() + 1));
    else if (++taken < end)
      files.push_back(words[taken]);
    else
      throw Error(ExitCode::Usage,
                  "--load needs the absolute path of a library; 'contorno --help' lists all");
  }
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
  words.erase(first, words.begin() + static_cast<std::ptrdiff_t>(taken));
  return files;
}

/// What a line that is being completed may name. Its last word is not whole, and what cannot be loaded adds
/// nothing.
Catalog catalog_of_unfinished(std::vector<std::string>& words, const Catalog& built_in) {
  try {
    const std::vector<std::string> files = take_files_to_load(words, 2, words.size() - 1);
    return with_extensions(built_in, files);
  } catch (const Error&) {
    return built_in;
  }
}

/// Refuses --load behind a command. For `apply` it may be a parameter of the stage.
void refuse_late_load(const std::vector<std::string>& words, const Catalog& catalog) {
  const bool is_applied = words[0] == "apply" && words.size() > 1 && catalog.stage(words[1]) != nullptr;
  if (!is_applied && std::any_of(words.begin() + 1, words.end(), is_load))
    throw Error(ExitCode::Usage,
                fmt::format("--load stands before the command: contorno --load FILE {} ...", words[0]));
}

}  // namespace

int run_command_line(int argc, char** argv, const Catalog& built_in) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc), files;
  const bool completes = asks_for_words(words);
  if (!completes) files = take_files_to_load(words, 0, words.size());
  const Catalog catalog =
      completes ? catalog_of_unfinished(words, built_in) : with_extensions(built_in, files);
  CLI::App app("contorno: camera frames and class maps in, sub-pixel contours out, in real time", "contorno");
  app.set_version_flag("--version", version_text, "Print the version, and what it was built with");
  app.add_option(std::string(kLoad), files,
                 "Library with stages, sources and sinks of others, by its absolute path; stands before the "
                 "command, which then knows them, and may be given again for further ones")
      ->type_name("FILE.so")
      ->allow_extra_args(false);
  app.require_subcommand(1);
  Action action;
  add_run_command(app, catalog, action);
  add_check_command(app, catalog, action);
  add_gst_command(app, catalog, action);
  add_apply_command(app, catalog, action);
  add_clean_command(app, catalog, action);
  add_record_command(app, catalog, action);
  add_replay_command(app, catalog, action);
  add_draw_command(app, catalog, action);
  add_stages_command(app, catalog, action);
  add_schema_command(app, catalog, action);
  add_bench_command(app, action);
  add_latency_command(app, catalog, action);
  add_doctor_command(app, action);
  add_find_contours_command(app, action);
  add_explain_command(app, action);
  add_mean_shift_command(app, action);
  add_learn_command(app, catalog, action);
  add_man_command(app, catalog, action);
  add_verify_command(app, action);
  add_completion_command(app, action);
  add_help_command(app, catalog, action);
  take_one_value_each(app);
  if (words.empty()) {
    print(app.help());
    throw Error(ExitCode::Usage, "a command is missing; these are all");
  }
  if (completes) return answer_words(app, catalog, words);
  refuse_unknown_command(app, words[0]);
  refuse_late_load(words, catalog);
  words = without_help_command(app, catalog, std::move(words));
  std::reverse(words.begin(), words.end());  // as the library wants them
  try {
    app.parse(words);
  } catch (const CLI::ExtrasError&) {
    refuse_extras(app);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help, mistake;
    const int code = app.exit(error, help, mistake);
    print(help.str());
    if (code == 0) return 0;
    throw Error(ExitCode::Usage, fmt::format("{}; {}", error.what(), where_all_is_listed(app)));
  }
  return action();
}

int report(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const bool out_of_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                             (known != nullptr && known->code() == ExitCode::OutOfMemory);
  try {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
      say_out_of_memory();
    else if (dynamic_cast<const config::ConfigErrors*>(&error) != nullptr)
      say_lines(error.what());  // several, and what they quote from outside is printable already
    else if (known != nullptr)
      say(error.what());
    else
      say(fmt::format("{} (this is a bug in contorno; please report it)", error.what()));
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
  }
  if (out_of_memory) return static_cast<int>(ExitCode::OutOfMemory);
  return static_cast<int>(known != nullptr ? known->code() : ExitCode::Internal);
}

}  // namespace contorno
