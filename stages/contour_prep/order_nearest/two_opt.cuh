// The kernel of `2opt`, behind order_ends: one block a class. From each place of the path on, all parts that
// begin there are tried at once, and the one with the greatest gain is turned round; of several, the
// shortest.
#pragma once

#include "stages/contour_prep/order_nearest/kernels.cuh"

namespace contorno::order_nearest_cuda {

/// One launch's arguments.
struct TurnJob {
  ContoursView in;
  unsigned *sorted = nullptr, *starts = nullptr;  ///< those of Job
  Point *downs = nullptr, *ups = nullptr;         ///< a contour; those of a class by places
  int passes = 0;
  unsigned* too_many = nullptr;  ///< page-locked: 1 if a class has more than kMostTurned, or else 0
};

/// What a block shares.
struct Turn {
  unsigned long long gain;  ///< the greatest one
  unsigned last;            ///< the place with which the part ends
};

/// Turns the part round that begins at `first`; returns whether there is one. By all threads of a block,
/// after which `turn` is clear again.
__device__ inline bool turn_best(const PenPath& path, unsigned first, Turn& turn) {
  const std::int64_t before = path.travel_to(first);
  unsigned long long gain = 0;
  unsigned last = ~0U;
  for (unsigned i = first + threadIdx.x; i < path.count; i += blockDim.x) {
    const long long one = path.gain(before, first, i);
    if (one > static_cast<long long>(gain)) gain = static_cast<unsigned long long>(one), last = i;
  }
  if (gain > 0) atomicMax(&turn.gain, gain);
  __syncthreads();
  const bool is_there = turn.gain > 0;
  if (is_there && gain == turn.gain) atomicMin(&turn.last, last);
  __syncthreads();
  const unsigned end = turn.last;
  if (is_there)
    for (unsigned i = threadIdx.x; 2 * i <= end - first; i += blockDim.x) path.turn(first + i, end - i);
  __syncthreads();
  if (threadIdx.x == 0) turn = {0, ~0U};
  __syncthreads();
  return is_there;
}

__global__ void __launch_bounds__(kOrderThreads) shorten_ways(const __grid_constant__ TurnJob job) {
  // Every block comes to the same.
  bool is_too_many = false;
  for (int k = 0; job.in.fits() && k < job.in.format.classes; ++k)
    if (job.in.class_begin[k + 1] - job.in.class_begin[k] > kMostTurned) is_too_many = true;
  if (threadIdx.x == 0) *job.too_many = is_too_many ? 1 : 0;
  if (!job.in.fits() || is_too_many) return;
  Turn& turn = block_shared<Turn>();
  if (threadIdx.x == 0) turn = {0, ~0U};
  for (auto k = static_cast<int>(blockIdx.x); k < job.in.format.classes; k += static_cast<int>(gridDim.x)) {
    const unsigned begin = job.in.class_begin[k];
    const PenPath path{.in = job.in,
                       .order = job.sorted + begin,
                       .starts = job.starts,
                       .downs = job.downs + begin,
                       .ups = job.ups + begin,
                       .count = job.in.class_begin[k + 1] - begin};
    for (unsigned place = threadIdx.x; place < path.count; place += blockDim.x) path.find_ends(place);
    __syncthreads();
    bool improves = true;
    for (int pass = 0; pass < job.passes && improves; ++pass) {
      improves = false;
      for (unsigned first = 1; first < path.count; ++first)
        if (turn_best(path, first, turn)) improves = true;
    }
  }
}

}  // namespace contorno::order_nearest_cuda
