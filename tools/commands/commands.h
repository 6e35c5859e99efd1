// The subcommands of `contorno`. Each function adds one to the parser; when the command line names it,
// `action` is set, which main then runs for the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"

namespace CLI {
class App;
}

namespace contorno {

using Action = std::function<int()>;

void add_run_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_apply_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_clean_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_record_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_replay_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_draw_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_gst_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_stages_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_schema_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_doctor_command(CLI::App& app, Action& action);
void add_find_contours_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_mean_shift_command(CLI::App& app, Action& action);
void add_latency_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_learn_command(CLI::App& app, const Catalog& catalog, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);
/// Whether the words behind the program's name are `completion words WORD...`, which a shell's script asks.
/// They are no command line to parse: what is typed may be incomplete or wrong.
bool asks_for_words(const std::vector<std::string>& words);
/// Prints what the last word may become.
int answer_words(const CLI::App& app, const Catalog& catalog, const std::vector<std::string>& words);
/// Describes all commands that the parser has when it is called.
void add_man_command(CLI::App& app, const Catalog& catalog, Action& action);
/// Added after all others, because `help` tells their names apart from those of stages.
void add_help_command(CLI::App& app, const Catalog& catalog, Action& action);

}  // namespace contorno
