// The option --step of commands that run steps of contour_prep: a step and its parameters as one text,
// "merge_close distance=4".
#pragma once

#include <string>
#include <vector>

#include "pipeline/graph/graph.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace contorno {

/// `steps` must outlive the command.
CLI::Option* add_steps(CLI::App& command, std::vector<std::string>& steps);

/// The parameters of contour_prep for these steps. Throws Error(Usage) that quotes the step, and what reading
/// its parameters throws.
ParamSet params_of_steps(const std::vector<std::string>& steps, const Catalog& catalog);

}  // namespace contorno
