// The declaration of measure.
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {

const StageType& measure_stage() {
  static const StageType type =
      per_contour_step<Measure>({.name = Measure::kName,
                                 .summary = "Measures area, perimeter, box, axes and form of every contour.",
                                 .gives = "The same contours, with their measures as attributes.",
                                 .params = declare(ParamList<NoParams>()),
                                 .example = "- type: measure\n"});
  return type;
}

}  // namespace contorno
