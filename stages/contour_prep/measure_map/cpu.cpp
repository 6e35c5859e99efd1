// The declaration of measure_map.
#include <fmt/format.h>

#include "base/error.h"
#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {
namespace map_measuring {

void check_map(const ContoursFormat& contours, const ImageFormat& map) {
  if (map.width != contours.width || map.height != contours.height || map.channels != contours.classes)
    throw Error(ExitCode::BadConfig,
                fmt::format("the contours are of maps of {}x{} with {} classes, and the maps that were given "
                            "are {}; give those that the contours were found in",
                            contours.width, contours.height, contours.classes, describe(map)));
}

std::uint64_t room_for_crossings(const PlanContext& context, const ContoursFormat& contours) {
  return context.capacity(2 * contours.point_capacity);
}

}  // namespace map_measuring

const StageType& measure_map_stage() {
  static const StageType type = [] {
    StageType made = contour_step({
        .name = "measure_map",
        .summary = "Measures the mean and the maximum of the map inside each contour.",
        .gives = "The same contours, with what the map has inside them as attributes.",
        .params = declare(ParamList<NoParams>()),
        .example = "- type: measure_map\n",
        .make_cpu = make_step<MeasureMap<OnHost, HostNest, map_measuring::HostSpans>, NoParams>,
        .make_cuda = on_cuda<make_measure_map_cuda>(),
    });
    made.inputs.push_back({.name = "maps",
                           .type = PortType::Image,
                           .sentence = "The maps that the contours are of, one channel a class.",
                           .from = From::MapsOrFrame});
    return made;
  }();
  return type;
}

}  // namespace contorno
