// The declaration of resample, and what is known of it before the first frame.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {
namespace {

void check_resample(const ResampleParams& params) {
  if (params.points == 0 && !(params.spacing > 0))
    throw Error(ExitCode::BadConfig,
                "spacing and points are both 0, allowed a spacing above 0 px or a number of points");
}

ParamDeclaration resample_params() {
  ParamList<ResampleParams> list;
  list.number(
      "spacing", &ResampleParams::spacing, 0, 1e9, Unit::Pixels,
      "The distance from point to point along the contour, changed as little as whole steps need. Not "
      "used where `points` is above 0.");
  list.integer("points", &ResampleParams::points, 0, 65536, Unit::None,
               "So many points a contour instead, however long it is; the repeated point of a closed contour "
               "does not count. 0: by the spacing.");
  return declare(list, [](const ResampleParams& params, const ParamTrial& trial) {
    trial.run("spacing", [&] { check_resample(params); });
  });
}

}  // namespace

ContoursFormat Resample::output(const PlanContext& context, ContoursFormat in) const {
  check_resample(params);
  // Contours of maps have about a point a px. More than four times the points of the input is left to frames
  // that need it.
  const double growth = params.points > 0 ? 4 : std::clamp(1.5 / params.spacing, 1.0, 4.0);
  auto guess = static_cast<std::uint64_t>(static_cast<double>(in.point_capacity) * growth);
  if (params.points > 0)
    guess = std::min(guess, in.contour_capacity * (static_cast<std::uint64_t>(params.points) + 1));
  in.point_capacity =
      std::min<std::uint64_t>(context.capacity(guess), std::numeric_limits<std::uint32_t>::max());
  return in;
}

const StageType& resample_stage() {
  static const StageType type =
      per_contour_step<Resample>({.name = Resample::kName,
                                  .summary = "Puts points at equal distances along contours.",
                                  .gives = "The same contours with other points.",
                                  .params = resample_params(),
                                  .example = "- type: resample\n  points: 128\n"});
  return type;
}

}  // namespace contorno
