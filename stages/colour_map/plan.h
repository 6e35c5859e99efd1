// What a colour map knows before the first frame, for both backends.
#pragma once

#include <vector>

#include "stages/colour_map/stage.h"

namespace contorno {

struct ColourMapPlan {
  ImageFormat in, out;
  std::vector<ColourStop> stops;

  ColourTable table(const ColourMapParams& params, const ColourStop* at) const {
    return {.stops = at, .count = static_cast<int>(stops.size()), .blend = params.blend};
  }
};

/// Throws Error(BadConfig) for a channel that the image does not have.
ColourMapPlan make_colour_map_plan(const ColourMapParams& params, const PlanContext& context);

}  // namespace contorno
