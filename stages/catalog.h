// The explicit list of stages. A new stage is a folder of its own and a line in catalog.cpp
// (docs/guide/stage.md).
#pragma once

#include <vector>

#include "pipeline/graph/quality.h"
#include "pipeline/graph/stage.h"

namespace contorno {

/// All stages, in the order in which the help prints them. They live as long as the program.
const std::vector<const StageType*>& stage_catalog();

/// The stages that take the place of others where a run does with less; see LighterStage.
const StageType* lighter_stage(DegradeStep step, const StageType& type);

}  // namespace contorno
