// The declaration of drop_small.
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {
namespace {

ParamDeclaration drop_small_params() {
  ParamList<DropSmallParams> list;
  list.integer("min_points", &DropSmallParams::min_points, 0, 1000000000, Unit::None,
               "Contours with fewer points are left out; the repeated point of a closed one counts.");
  list.number("min_length", &DropSmallParams::min_length, 0, 1e9, Unit::Pixels,
              "Shorter contours are left out.");
  list.number(
      "min_area", &DropSmallParams::min_area, 0, 1e9, Unit::None,
      "Contours that enclose less, in px^2, are left out; open ones enclose nothing, holes count like "
      "any other.");
  return declare(list);
}

}  // namespace

const StageType& drop_small_stage() {
  static const StageType type = per_contour_step<DropSmall>(
      {.name = DropSmall::kName,
       .summary = "Leaves out contours with few points, a short length or a small area.",
       .gives = "Those that are large enough, in their order.",
       .params = drop_small_params(),
       .example = "- type: drop_small\n  min_points: 4\n  min_area: 2.5\n"});
  return type;
}

}  // namespace contorno
