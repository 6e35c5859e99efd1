// Parameters with which any stage of the catalogue can be run, and the backends that run it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "pipeline/graph/steps.h"

namespace contorno::test {

/// CUDA where a device answers.
inline std::vector<Backend> backends() {
  std::vector<Backend> list{Backend::Cpu};
  if (device_report().available) list.push_back(Backend::Cuda);
  return list;
}

/// The defaults; of a list of steps, which has none, all that take contours alone.
inline ParamSet default_params(const StageType& type) {
  ParamSet params(type.params);
  for (const ParamSpec& spec : type.params.specs)
    if (spec.kind == ParamKind::Steps) {
      auto steps = std::make_shared<std::vector<StepSpec>>();
      for (const StageType* step : spec.step_types())
        if (step->inputs.size() == 1) steps->push_back({.type = step, .params = ParamSet(step->params)});
      params.set(spec.name, SharedSteps(std::move(steps)));
    }
  return params;
}

}  // namespace contorno::test
