// The declaration of measure.
#include <fmt/format.h>

#include "base/error.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {

void Measure::throw_too_much_work(std::uint32_t points) {
  throw Error(
      ExitCode::BadData,
      fmt::format("measure: the convex hull of a contour of {} points has so many corners that they have to "
                  "be looked "
                  "at more than {} times, allowed up to so many on a device; take backend: cpu, or leave "
                  "points out before (simplify)",
                  points, WorkLimit::kMostLooks));
}

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
