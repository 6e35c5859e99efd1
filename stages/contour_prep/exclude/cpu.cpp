// The declaration of exclude.
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {
namespace {

ParamDeclaration exclude_params() {
  constexpr std::size_t kMostNumbers = 4000000;
  constexpr double kFarthest = 1e9;
  ParamList<ExcludeParams> list;
  list.numbers("points", &ExcludeParams::points, 0, kMostNumbers, -kFarthest, kFarthest, Unit::Pixels,
               "Brush points: x, y of each.");
  list.number("radius", &ExcludeParams::radius, 0, kFarthest, Unit::Pixels,
              "Points up to this far from a brush point or a stroke are left out.");
  list.numbers("strokes", &ExcludeParams::strokes, 0, kMostNumbers, -kFarthest, kFarthest, Unit::Pixels,
               "Strokes of the brush: x, y of the first point and of the last point of each.");
  list.mask("mask", &ExcludeParams::mask,
            "Path of a mask on the map, an image or an .npy array: points where it is not 0 are left out.");
  return declare<ExcludeParams>(list, [](const ExcludeParams& params, const ParamTrial& trial) {
    trial.run("points", [&] { check_points(params); });
    trial.run("strokes", [&] { check_strokes(params); });
  });
}

}  // namespace

const StageType& exclude_stage() {
  static const StageType type = per_contour_step<Exclude>(
      {.name = Exclude::kName,
       .summary = "Leaves out points that a brush painted over.",
       .gives = "The points that are not painted over, in their order and their contours.",
       .params = exclude_params(),
       .example = "- type: exclude\n  points: [12, 30.5]\n  strokes: [0, 0, 40, 25]\n  radius: 3\n"});
  return type;
}

}  // namespace contorno
