// The kernel of smooth: a block takes a contour at a time. What it transforms lies in shared memory while it
// is small enough.
#pragma once

#include "stages/contour_prep/fourier/team.cuh"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/contour_prep/smooth/rules.h"

namespace contorno::smooth_cuda {

using fourier::Complex;
using fourier::Transform;
using smoothing::Series;

inline constexpr unsigned kSmoothThreads = 256;
/// Complex numbers in shared memory: for any contour of up to 512 points, and for 1024 or 2048 steps. Five
/// blocks of them fit into a multiprocessor.
inline constexpr unsigned kSharedNumbers = 2560;

struct SmoothShared {
  Complex memory[kSharedNumbers];
  unsigned long long counter;
};

/// `memory`: Series::kMostMemory numbers a point of the capacity; `roots`: fourier::transform_roots of it.
/// The points of `out` are smoothed in place.
__global__ void __launch_bounds__(kSmoothThreads)
    smooth_contours(const __grid_constant__ ContoursView out,
                    const __grid_constant__ smoothing::SmoothTerms terms, Complex* memory,
                    const Complex* roots) {
  auto& shared = block_shared<SmoothShared>();
  const BlockTeam team(&shared.counter);
  const unsigned contours = contours_of(out);
  for (unsigned contour = blockIdx.x; contour < contours; contour += gridDim.x) {
    const OwnPoints own(out, contour);
    Complex* const coefficients = memory + own.begin * Series::kMostMemory;
    const bool is_small = Transform::memory(Series(own).steps()) <= kSharedNumbers;
    smoothing::smooth(team, terms, own, out.points + own.begin, coefficients,
                      is_small ? shared.memory : coefficients + own.count * Series::kCoefficients, roots);
    __syncthreads();
  }
}

}  // namespace contorno::smooth_cuda
