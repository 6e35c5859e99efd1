// What a classify stage computes before the first frame: classes, their references and ranges in the units in
// which distances are measured, and the weights of the smoothing. Made on the host when the stage is planned;
// both backends use it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stages/classify/stage.h"

namespace contorno {

struct ClassifyPlan {
  ImageFormat in, out;
  ClassifyPixel pixel;              ///< without the addresses of its tables
  std::array<float, 256> decode{};  ///< linear light of a byte
  std::array<float, 256> unit{};    ///< byte / 255
  std::vector<Triple> references;
  std::vector<ClassifyRange> ranges;
  std::vector<ClassifyClass> classes;
  std::vector<float> weights;  ///< 2 * smooth + 1
  int rest_class = -1;         ///< the class without references and ranges, -1 = none
};

/// Throws Error(BadConfig) for a frame or classes that do not fit.
ClassifyPlan make_classify_plan(const ClassifyParams& params, const PlanContext& context);

}  // namespace contorno
