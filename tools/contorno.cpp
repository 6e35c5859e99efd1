// The program: parses the command line, runs one subcommand, turns every error into a line and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "config/source_text.h"
#include "cuda/error.h"
#include "pipeline/param.h"
#include "tools/commands.h"

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
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::Usage);
  }
  return action();
}

/// Messages may hold names of files, which must not colour a terminal.
std::string printable_lines(std::string_view text) {
  constexpr std::size_t kMostCharacters = 65536;  // a line; reports of graphs quote much
  std::string shown;
  for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
    end = text.find('\n', at);
    shown += (at == 0 ? "" : "\n") + contorno::config::printable(text.substr(at, end - at), kMostCharacters);
  }
  return shown;
}

/// A standard stream that is closed leaves its number to the next file that is opened, and messages would be
/// written into that.
void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(EXIT_FAILURE);
}

/// OpenMP's threads spin for a while behind every loop unless told otherwise, and take the processors from
/// the decoder and the encoder (a quarter of the rate on two cores). The library reads its setting before
/// main, so the program starts itself once more with it. A user's own setting is left alone.
void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
  // Without /proc the program runs on as it is, only slower.
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  wait_passively(argv);
  using contorno::ExitCode;
  try {
    return run(argc, argv);
  } catch (const contorno::Error& error) {
    // Where memory has ended, the sentence goes out as it is.
    std::fprintf(
        stderr, "contorno: %s\n",
        error.code() == ExitCode::OutOfMemory ? error.what() : printable_lines(error.what()).c_str());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fputs("contorno: out of memory\n", stderr);
    return static_cast<int>(ExitCode::OutOfMemory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "contorno: %s (this is a bug in contorno; please report it)\n", error.what());
    return static_cast<int>(ExitCode::Internal);
  }
}
