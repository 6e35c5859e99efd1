// Parameters with which any stage of the catalogue can be run.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "pipeline/graph/steps.h"

namespace contorno::test {

/// The defaults; of a list of steps, which has none, all of them.
inline ParamSet default_params(const StageType& type) {
  ParamSet params(type.params);
  for (const ParamSpec& spec : type.params.specs)
    if (spec.kind == ParamKind::Steps) {
      auto steps = std::make_shared<std::vector<StepSpec>>();
      for (const StageType* step : spec.step_types())
        steps->push_back({.type = step, .params = ParamSet(step->params)});
      params.set(spec.name, SharedSteps(std::move(steps)));
    }
  return params;
}

}  // namespace contorno::test
