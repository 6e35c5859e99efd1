// The declaration of a stage from contours to contours, as all steps are: what is the same for all of them is
// said here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pipeline/graph/stage.h"

namespace contorno {

/// What is a step's own; see StageType.
struct ContourStep {
  std::string name{}, summary{};
  std::string gives{};  ///< a sentence: what the contours are that it gives
  ParamDeclaration params{};
  std::string example{};
  MakeStage make_cpu = nullptr, make_cuda = nullptr;
  std::vector<OnlyOnCpu> only_on_cpu = {};
};

/// A stage that takes more than contours adds to `inputs` of what this returns, as measure_map does.
inline StageType contour_step(ContourStep step) {
  return {
      .name = std::move(step.name),
      .summary = std::move(step.summary),
      .inputs = {{.name = "contours", .type = PortType::Contours, .sentence = "Contours of all classes."}},
      .outputs = {{.name = "contours", .type = PortType::Contours, .sentence = std::move(step.gives)}},
      .params = std::move(step.params),
      .example = std::move(step.example),
      .make_cpu = std::move(step.make_cpu),
      .make_cuda = std::move(step.make_cuda),
      .only_on_cpu = std::move(step.only_on_cpu)};
}

/// The parameters of a step that has none.
struct NoParams {};

/// Makes a stage from its parameters, or one without any.
template <class Step, class Params>
std::unique_ptr<Stage> make_step(const ParamSet& params) {
  if constexpr (std::is_same_v<Params, NoParams>)
    return std::make_unique<Step>();
  else
    return std::make_unique<Step>(params.as<Params>());
}

}  // namespace contorno
