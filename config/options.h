// Parameters given as text, on the command line or by another program, as in `--operation opening --size
// [11,11]`. They are checked exactly as those of a graph file, and all mistakes are found in one go.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/graph/bind.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

/// The parameters with these settings (name, text). `owner` is what messages call their stage, "morphology".
/// Throws ConfigErrors that names each wrong option, what was given and what is allowed, and each required
/// option that is missing. `read_mask` reads masks; empty: none can be given. `option` is what messages write
/// before the name of a setting: "--" for options of a command, "--step merge_close " for those of a step.
ParamSet params_from_text(const ParamDeclaration& declaration, const std::string& owner,
                          const std::vector<std::pair<std::string, std::string>>& settings,
                          const MaskReader& read_mask, const std::string& option = "--");

using contorno::class_colour;

}  // namespace contorno::config
