// What a preprocess stage computes before the first frame: the crop, the resampling tables of both axes, and
// the arithmetic of a pixel. Made on the host when the stage is planned; both backends use it.
#pragma once

#include <vector>

#include "stages/preprocess/stage.h"

namespace contorno {

struct PixelBox {
  int x = 0, y = 0, width = 0, height = 0;
};

struct PreprocessPlan {
  ImageFormat in, out;
  PixelBox box;  ///< the crop, on the input
  AxisTable horizontal, vertical;
  FinishPixel finish;
  std::vector<float> gains, biases;  ///< one for each channel of the output
  bool along_rows = false;           ///< the width changes, so rows are resampled
  bool copy = false;                 ///< samples are only cropped, not changed
};

/// Throws Error(BadConfig) for parameters that do not fit the input.
PreprocessPlan make_preprocess_plan(const PreprocessParams& params, const PlanContext& context);

}  // namespace contorno
