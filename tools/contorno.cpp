// The program: parses the command line, runs one subcommand, turns every error into a line and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>

#include "config/load.h"
#include "cuda/error.h"
#include "pipeline/param.h"
#include "plugins/glib_messages.h"
#include "tools/commands.h"
#include "tools/process_limits.h"
#include "tools/say.h"

#ifndef CONTORNO_VERSION
#error "CONTORNO_VERSION comes from CMake"
#endif

namespace {

/// The library would only say that a command is missing.
void refuse_unknown_command(const CLI::App& app, const std::string& word) {
  using namespace contorno;
  if (word.starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  const std::string near = nearest(word, names);
  throw Error(ExitCode::Usage, fmt::format("there is no command '{}'{}; 'contorno --help' lists all", word,
                                           near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

int run(int argc, char** argv) {
  using namespace contorno;
  CLI::App app("contorno: camera frames and class maps in, sub-pixel contours out, in real time", "contorno");
  app.set_version_flag("--version", "contorno " CONTORNO_VERSION);
  app.require_subcommand(1);
  Action action;
  const Catalog& catalog = full_catalog();
  add_run_command(app, catalog, action);
  add_check_command(app, catalog, action);
  add_apply_command(app, catalog, action);
  add_stages_command(app, catalog, action);
  add_schema_command(app, catalog, action);
  add_bench_command(app, action);
  add_doctor_command(app, action);
  add_find_contours_command(app, action);
  add_mean_shift_command(app, action);
  add_learn_command(app, catalog, action);
  if (argc > 1) refuse_unknown_command(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help, mistake;
    const int code = app.exit(error, help, mistake);
    print(help.str());
    if (code == 0) return 0;
    throw Error(ExitCode::Usage,
                fmt::format("{} ('contorno COMMAND --help' lists what is allowed)", error.what()));
  }
  return action();
}

/// OpenMP's threads spin for a while behind every loop unless told otherwise, and take the processors from
/// the decoder and the encoder (a quarter of the rate on two cores). The library reads its setting before
/// main, so the program starts itself once more with it. A user's own setting is left alone.
void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
  // Without /proc the program runs on as it is, only slower.
}

/// Says what went wrong and returns the exit code that goes with it. Where memory has ended there may be none
/// for the sentence either.
int report(const std::exception& error) {
  using namespace contorno;
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

}  // namespace

int main(int argc, char** argv) {
  contorno::settle_process_limits();
  contorno::fill_standard_streams();
  wait_passively(argv);
  contorno::take_glib_messages([](const std::string& sentence) { contorno::say(sentence); });
  try {
    const int code = run(argc, argv);
    contorno::finish_output();
    return code;
  } catch (const std::exception& error) {
    return report(error);
  }
}
