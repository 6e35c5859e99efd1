// The program: parses the command line, runs one subcommand, turns every error into a line and an exit code.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "cuda/error.h"
#include "tools/commands.h"

#ifndef CONTORNO_VERSION
#error "CONTORNO_VERSION comes from CMake"
#endif

namespace {

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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::Usage);
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

}  // namespace

int main(int argc, char** argv) {
  wait_passively(argv);
  using contorno::ExitCode;
  try {
    return run(argc, argv);
  } catch (const contorno::Error& error) {
    std::fprintf(stderr, "contorno: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fputs("contorno: out of memory\n", stderr);
    return static_cast<int>(ExitCode::OutOfMemory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "contorno: %s (this is a bug in contorno; please report it)\n", error.what());
    return static_cast<int>(ExitCode::Internal);
  }
}
