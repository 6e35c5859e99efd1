// The declaration of close_at_border.
#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "stages/contour_prep/close_at_border/stage.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {
namespace {

ParamDeclaration close_at_border_params() {
  ParamList<CloseAtBorderParams> list;
  list.choice("positive_orientation", &CloseAtBorderParams::positive_orientation,
              {{"low", Orientation::Low}, {"high", Orientation::High}},
              "What contours run around counter-clockwise, as contour_assembly was told: regions that are "
              "low, or high.");
  return declare(list);
}

}  // namespace

ContoursFormat closed_format(const PlanContext& context) {
  ContoursFormat format = std::get<ContoursFormat>(context.input(0));
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  format.point_capacity += 5 * format.contour_capacity;  // 4 corners and the first point again
  if (format.point_capacity > kMost)
    throw Error(
        ExitCode::BadConfig,
        fmt::format("close_at_border: contours with room for {} points would be made, allowed up to {}",
                    format.point_capacity, kMost));
  return format;
}

const StageType& close_at_border_stage() {
  static const StageType type = contour_step({
      .name = "close_at_border",
      .summary = "Closes contours that end on the border of the map, along the border.",
      .gives = "The contours; what was joined is closed, in the place of its first member.",
      .params = close_at_border_params(),
      .example = "- type: close_at_border\n",
      .make_cpu = make_step<CloseAtBorder<OnHost>, CloseAtBorderParams>,
      .make_cuda = on_cuda<make_close_at_border_cuda>(),
  });
  return type;
}

}  // namespace contorno
