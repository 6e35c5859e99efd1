// The kernel of fourier_descriptors: a warp a contour, whose lanes add up what rules.h says of their points.
#pragma once

#include "stages/contour_prep/fourier_descriptors/rules.h"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/contour_prep/shared/threads.cuh"

namespace contorno::fourier_descriptors_cuda {

using describing::FourierSums;
using fourier::Complex;

/// The sums of all lanes, added up in the order in which the host adds them.
__device__ __forceinline__ FourierSums sum_of_warp(FourierSums sums) {
  const auto sum = [](const Complex& one) {
    return Complex{contorno::sum_of_warp(one.re), contorno::sum_of_warp(one.im)};
  };
  for (unsigned k = 0; k < describing::kHighest; ++k)
    sums.positive[k] = sum(sums.positive[k]), sums.negative[k] = sum(sums.negative[k]);
  return sums;
}

/// `sources`: see Stage::selection.
__global__ void __launch_bounds__(kArrayThreads)
    describe_contours(const __grid_constant__ ContoursView out, unsigned* sources) {
  for_warps(contours_of(out), [&](unsigned contour) {
    const OwnPoints own(out, contour);
    FourierSums sums;
    for (unsigned i = warp_lane(); i < own.count; i += kLanes) sums.add(own, i);
    sums = sum_of_warp(sums);
    if (warp_lane() != 0) return;
    describing::write(out, contour, own.closed, own.count, sums);
    sources[contour] = contour;
  });
}

}  // namespace contorno::fourier_descriptors_cuda
