// The explicit list of stages. Adding one = its three files, one line here and one in catalog.cpp.
#pragma once

#include <vector>

#include "pipeline/graph/stage.h"

namespace contorno {

/// All of them, in the order in which the help prints them.
const std::vector<const StageType*>& stage_catalog();

}  // namespace contorno
