// contorno bench: what this machine reaches, beside its limits.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "tools/bench/bench.h"
#include "tools/commands/commands.h"

namespace contorno {

void add_bench_command(CLI::App& app, Action& action) {
  auto trace = std::make_shared<std::string>();
  auto part = std::make_shared<std::string>("all");
  CLI::App* command = app.add_subcommand(
      "bench", "Measure this machine: contours and frames, beside the physical limits of the same run");
  command->add_option("PART", *part, "What to measure")
      ->check(CLI::IsMember(bench_parts()))
      ->capture_default_str();
  command->add_option("--trace", *trace, "Write a Chrome/Perfetto trace of 60 frames instead")
      ->type_name("FILE.json");
  command->callback([trace, part, &action] {
    action = [trace, part] {
      if (trace->empty())
        bench(*part);
      else
        bench_trace(*trace);
      return static_cast<int>(ExitCode::Ok);
    };
  });
}

}  // namespace contorno
