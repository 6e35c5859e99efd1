// Device functions of the kernels that look for near points in the bins of DeviceBins.
#pragma once

#include "stages/contour_prep/shared/device_bins.h"
#include "stages/contour_prep/shared/own_points.h"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::device_bins_cuda {

/// The class of a contour.
__device__ __forceinline__ unsigned class_of(const ContoursView& in, unsigned contour) {
  return part_of(in.class_begin, static_cast<unsigned>(in.format.classes), contour);
}
__device__ __forceinline__ unsigned bucket_in(const DeviceBinsView& bins, const Bin& bin, unsigned of_class) {
  return BinHash(bin, of_class).bucket() & bins.mask;
}

}  // namespace contorno::device_bins_cuda
