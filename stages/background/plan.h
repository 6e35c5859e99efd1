// What a background stage knows before the first frame: formats, the arithmetic, the reference in the units
// of the scene. Made on the host when the stage is planned; both backends use it.
#pragma once

#include <optional>
#include <vector>

#include "stages/background/stage.h"

namespace contorno {

struct BackgroundPlan {
  ImageFormat in, out;
  ScenePixel pixel;
  ScenePaint paint;
  bool paints = false;                 ///< the output is a frame
  std::vector<SceneColour> reference;  ///< row by row, pixel by pixel; empty: none
  int least_step = 0;                  ///< 0: the scene never changes once it is there
  /// Asked for unless the scene is the reference for ever.
  std::optional<State> state;
  std::uint64_t shape = 0;      ///< shape of the frames, as in SceneHeader
  std::size_t row_colours = 0;  ///< colours of the scene in a row
};

/// Also sets the output and asks for the state. Throws Error(BadConfig) for a frame or a reference that does
/// not fit.
BackgroundPlan make_background_plan(const BackgroundParams& params, PlanContext& context);

}  // namespace contorno
