// What objects does on a device, before and behind the kernels of DeviceNest.
//
//   begin_objects  area of every contour, and which are outlines of objects: a warp a contour
//   EndObjects     the attributes, called for each contour of the capacity
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

struct EndObjects {
  objects::Work work;

  CONTORNO_HD void operator()(unsigned contour) const {
    if (contour < contours_of(work.out)) objects::end(work, contour, class_of(work.out, contour));
  }
};

}  // namespace contorno::objects_cuda
