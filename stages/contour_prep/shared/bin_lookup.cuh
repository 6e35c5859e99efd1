// Device functions of the kernels that look for near points in the bins of DeviceBins.
#pragma once

#include "cuda/threads.cuh"
#include "geometry/ascending.h"
#include "geometry/own_points.h"
#include "stages/contour_prep/shared/device_bins.h"
#include "stages/contour_prep/shared/placement.h"

namespace contorno::device_bins_cuda {

CONTORNO_HD inline unsigned bucket_in(const DeviceBinsView& bins, const Bin& bin, unsigned of_class) {
  return BinHash(bin, of_class).bucket() & bins.mask;
}

/// Divides the bins around points among the threads of a grid: calls look(place, first, step) for the bins
/// first, first + step, ... of `bins` around the point at a place. Where points are few, several threads
/// share the bins around each: to look at one takes several loads, each of which waits for the one before.
template <class Look>
__device__ __forceinline__ void for_bins_around(unsigned points, unsigned bins, const Look& look) {
  if (points == 0) return;
  const unsigned parts = min(max(all_threads() / points, 1U), bins);
  for (unsigned long long item = global_thread(); item < 1ULL * points * parts; item += all_threads()) {
    const auto at = static_cast<unsigned>(item);
    look(at % points, at / points, parts);
  }
}

}  // namespace contorno::device_bins_cuda
