// The program: settles what belongs to the process as a whole, runs one subcommand, turns every error into a
// line and an exit code.
#include "plugins/catalog.h"
#include "plugins/shared/glib_messages.h"
#include "tools/commands/command_line.h"
#include "tools/interrupt.h"
#include "tools/openmp_environment.h"
#include "tools/process_limits.h"
#include "tools/say.h"

int main(int argc, char** argv) {
  contorno::settle_process_limits();
  contorno::fill_standard_streams();
  contorno::settle_log();
  contorno::ignore_file_size_signal();
  contorno::settle_openmp_environment(argv);
  contorno::take_glib_messages([](const std::string& sentence) { contorno::say(sentence); });
  try {
    const int code = contorno::run_command_line(argc, argv, contorno::full_catalog());
    contorno::finish_log();
    contorno::finish_output();
    return contorno::end_with(code);
  } catch (const std::exception& error) {
    contorno::finish_log();
    return contorno::report(error);
  }
}
