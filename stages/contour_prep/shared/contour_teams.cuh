// The kernels that call a function of (team, contour) for every contour. The function is a struct with kTeams
// (ContourTeams) and kRoom, the bytes of BlockTeam::room.
//
//   contours_by_warps   a warp a contour
//   contours_by_blocks  a block a contour. Contours that lie beside each other go to different blocks: large
//                       ones are often neighbours
#pragma once

#include "geometry/team.cuh"
#include "geometry/team.h"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno {

/// The contours of fewer than `end` points.
template <class Call>
__global__ void __launch_bounds__(kArrayThreads)
    contours_by_warps(const __grid_constant__ ContoursView contours, const __grid_constant__ Call call,
                      unsigned end) {
  for_warps(contours_of(contours), [&](unsigned contour) {
    if (points_of(contours, contour) < end) call(WarpTeam(), contour);
  });
}

/// What a block shares; its room comes behind.
template <unsigned kThreads>
struct alignas(16) ByBlocksShared {
  BlockShared team;
  unsigned count;            ///< number of the block's own contours among those that it looks at together
  unsigned found[kThreads];  ///< their numbers
};

/// The contours of `least` points and more, and fewer than `end`.
template <class Call, unsigned kThreads>
__global__ void __launch_bounds__(kThreads)
    contours_by_blocks(const __grid_constant__ ContoursView contours, const __grid_constant__ Call call,
                       unsigned least, unsigned end) {
  auto& shared = block_shared<ByBlocksShared<kThreads>>();
  const BlockTeam team(shared.team, reinterpret_cast<unsigned char*>(&shared + 1), Call::kRoom);
  const unsigned all = contours_of(contours);
  for (unsigned first = blockIdx.x; first < all; first += all_threads()) {
    if (threadIdx.x == 0) shared.count = 0;
    __syncthreads();
    const unsigned mine = first + gridDim.x * threadIdx.x,
                   points = mine < all ? points_of(contours, mine) : 0U;
    if (mine < all && points >= least && points < end) shared.found[atomicAdd(&shared.count, 1U)] = mine;
    __syncthreads();
    const unsigned count = shared.count;
    for (unsigned i = 0; i < count; ++i) {
      call(team, shared.found[i]);
      __syncthreads();
    }
  }
}

}  // namespace contorno
