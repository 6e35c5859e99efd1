// A list of stages as the value of a parameter: the steps that one stage runs in turn. Shared and never
// changed once it is a value, so that copies of parameters cost nothing.
#pragma once

#include <vector>

#include "pipeline/graph/stage.h"

namespace contorno {

/// One step: a declaration, which lives as long as the program, and its parameters.
struct StepSpec {
  const StageType* type = nullptr;
  ParamSet params{};
};

}  // namespace contorno
