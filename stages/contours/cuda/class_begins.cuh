// Several levels of a class: where its contours begin, which is where its first plane begins.
#pragma once

#include "cuda/launch.cuh"

namespace contorno::contour_engine {

/// The first planes of some classes.
struct ClassPlanes {
  static constexpr int kMost = 256;
  int first, count;
  int plane[kMost];
};

__global__ void __launch_bounds__(ClassPlanes::kMost)
    write_class_begins(const __grid_constant__ ClassPlanes classes, const unsigned* plane_begin,
                       unsigned* class_begin) {
  wait_for_previous();
  const auto k = static_cast<int>(threadIdx.x);
  if (k < classes.count) class_begin[classes.first + k] = plane_begin[classes.plane[k]];
}

}  // namespace contorno::contour_engine
