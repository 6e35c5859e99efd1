// The kernels of objects, before and behind those of DeviceNest.
//
//   begin_objects  area of every contour, and which are outlines of objects: a warp a contour
//   end_objects    the attributes: a thread a contour
#pragma once

#include "geometry/ascending.h"
#include "geometry/team.cuh"
#include "stages/contour_prep/objects/stage.h"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::objects_cuda {

__global__ void __launch_bounds__(kArrayThreads) begin_objects(const __grid_constant__ objects::Work work) {
  for_warps(contours_of(work.out), [&](unsigned contour) {
    objects::begin(WarpTeam(), work, contour, class_of(work.out, contour));
  });
}

__global__ void __launch_bounds__(kArrayThreads) end_objects(const __grid_constant__ objects::Work work) {
  const unsigned contours = contours_of(work.out);
  for (unsigned i = global_thread(); i < contours; i += all_threads())
    objects::end(work, i, class_of(work.out, i));
}

}  // namespace contorno::objects_cuda
