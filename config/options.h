// Parameters from the command line or another program, given as text, checked exactly as a graph file's are:
// `--operation opening --size [11,11]`. Every mistake is found in one go.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/graph/param.h"

namespace contorno::config {

/// Sets parameters of what is called `owner` in messages ("morphology"). Throws ConfigErrors that names each
/// wrong option, what was given and what is allowed; also for an option that is required and missing.
ParamSet params_from_text(const ParamDeclaration& declaration, const std::string& owner,
                          const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace contorno::config
