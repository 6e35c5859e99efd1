// Stages by their names.
#pragma once

#include <string>

#include "pipeline/graph/stage.h"

namespace contorno::python {

/// Throws ValueError, with the nearest name, when the catalogue has no such stage.
const StageType& stage_called(const std::string& name);

}  // namespace contorno::python
