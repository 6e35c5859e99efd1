// The declaration of contour_prep. Its steps run as stages of their own: a graph writes them out
// (config/steps.cpp), and where it is used alone graph_of makes a node of each (pipeline/graph/graph.h).
#include "stages/contour_prep/stage.h"

#include <fmt/format.h>

#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

ParamDeclaration contour_prep_params(const StepTypes& (*steps)()) {
  ParamList<ContourPrepParams> list;
  list.required_steps("steps", &ContourPrepParams::steps, steps,
                      "What is done with the contours, in this order.");
  return declare<ContourPrepParams>(
      std::move(list), [](const ContourPrepParams& params, const ParamTrial& trial) {
        if (!params.steps) return;  // said elsewhere
        for (const StepSpec& step : *params.steps)
          step.params.try_out(
              {trial.output_root(), [&](std::string_view param, ExitCode code, const std::string& reason) {
                 trial.refuse("steps", code, fmt::format("{}: {}: {}", step.type->name, param, reason));
               }});
      });
}

}  // namespace

StageType contour_prep_with(const StepTypes& (*steps)()) {
  return contour_step({
      .name = "contour_prep",
      .summary = "Runs an ordered list of steps on contours.",
      .gives = "The contours that the last step gives.",
      .params = contour_prep_params(steps),
      .example = "- type: contour_prep\n"
                 "  steps:\n"
                 "    - {type: drop_small, min_points: 4}\n"
                 "    - {type: largest_first, limit: 20}\n"
                 "    - {type: drop_small, min_area: 1.5}\n",
  });
}

const StageType& contour_prep_stage() {
  static const StageType type = contour_prep_with(contour_steps);
  return type;
}

}  // namespace contorno
