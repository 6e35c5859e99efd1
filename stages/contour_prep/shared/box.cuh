// The box around the boxes that the lanes of a warp have.
#pragma once

#include "stages/contour_prep/shared/box.h"
#include "stages/contour_prep/shared/threads.cuh"

namespace contorno {

__device__ inline Box box_of_warp(const Box& box) {
  const auto least = [](float a, float b) { return b < a ? b : a; };
  const auto greatest = [](float a, float b) { return b > a ? b : a; };
  return {join_warp(box.top, least), join_warp(box.left, least), join_warp(box.bottom, greatest),
          join_warp(box.right, greatest)};
}

}  // namespace contorno
