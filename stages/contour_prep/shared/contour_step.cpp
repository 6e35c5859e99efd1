#include "stages/contour_prep/shared/contour_step.h"

#include <utility>

namespace contorno {

StageType contour_step(ContourStep step) {
  return {
      .name = std::move(step.name),
      .summary = std::move(step.summary),
      .inputs = {{.name = "contours", .type = PortType::Contours, .sentence = "Contours of all classes."}},
      .outputs = {{.name = "contours", .type = PortType::Contours, .sentence = std::move(step.gives)}},
      .params = std::move(step.params),
      .example = std::move(step.example),
      .make_cpu = std::move(step.make_cpu),
      .make_cuda = std::move(step.make_cuda)};
}

}  // namespace contorno
