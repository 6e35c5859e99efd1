// The kernels of measure: a warp a contour, and a block a long one. The lanes of a warp add up what rules.h
// says of their segments; the convex hull (hull.cuh) is found by all threads.
//
//   measure_contours  contours of few points
//   measure_long      the others
#pragma once

#include "stages/contour_prep/measure/hull.cuh"
#include "stages/contour_prep/measure/rules.h"
#include "stages/contour_prep/shared/box.cuh"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/contour_prep/shared/threads.cuh"

namespace contorno::measure_cuda {

using namespace measuring;

/// The sums of all lanes, added up in the order in which the host adds them.
__device__ __forceinline__ Moments sum_of_warp(const Moments& m) {
  using contorno::sum_of_warp;
  return {{sum_of_warp(m.first.weight), sum_of_warp(m.first.row), sum_of_warp(m.first.col)},
          sum_of_warp(m.row_row),
          sum_of_warp(m.row_col),
          sum_of_warp(m.col_col)};
}

__device__ __forceinline__ OutlineSums outline_of(const DeviceContour& contour) {
  OutlineSums sums;
  for (unsigned i = warp_lane() + 1; i < contour.count; i += kLanes)
    sums.add(contour.offset(i - 1), contour.offset(i));
  return {sum_of_warp(sums.area), contorno::sum_of_warp(sums.length)};
}

__device__ __forceinline__ Moments line_of(const DeviceContour& contour) {
  Moments sums;
  for (unsigned i = warp_lane() + 1; i < contour.count; i += kLanes) {
    const Offset a = contour.offset(i - 1), b = contour.offset(i);
    sums.add(length_of(a, b), a, b);
  }
  return sum_of_warp(sums);
}

/// All but the hull, by one warp.
__device__ inline void measure_outline(const ContoursView& out, unsigned index, const DeviceContour& contour,
                                       double hull) {
  const bool empty = contour.count == 0, closed = out.closed[index] != 0;
  const OutlineSums outline = outline_of(contour);
  Ellipse ellipse;
  if (closed && outline.area.first.weight != 0)
    ellipse = ellipse_of(outline.area, kOfTriangles);
  else if (outline.length != 0)
    ellipse = ellipse_of(line_of(contour), kOfSegments);
  Box box;
  for (unsigned i = warp_lane(); i < contour.count; i += kWarpLanes) box.add(contour.points[i]);
  box = box_of_warp(box);
  if (warp_lane() != 0) return;
  write_form(out, index, closed ? outline.area.first.weight / 2 : 0, outline.length, hull);
  write_ellipse(out, index,
                empty ? Point{static_cast<float>(kNaN), static_cast<float>(kNaN)} : contour.points[0],
                ellipse);
  write_box(out, index, box);
}

template <class Team>
__device__ inline void measure_contour(const Team& team, const ContoursView& out, unsigned index,
                                       GridPoint* room) {
  const unsigned begin = out.offsets[index];
  const DeviceContour contour{out.points + begin, out.offsets[index + 1] - begin};
  const double hull = contour.count == 0 ? 0 : hull_area(team, contour, room + begin);
  if (team.rank() < kWarpLanes) measure_outline(out, index, contour, hull);
}

/// Points of a contour from which a block measures it.
inline constexpr unsigned kLong = 1024;

/// `sources`: see Stage::selection; `room`: memory to find hulls in, one a point of the capacity.
__global__ void __launch_bounds__(kArrayThreads)
    measure_contours(const __grid_constant__ ContoursView out, unsigned* sources, GridPoint* room) {
  for_warps(contours_of(out), [&](unsigned contour) {
    sources[contour] = contour;
    if (points_of(out, contour) < kLong) measure_contour(WarpTeam(), out, contour, room);
  });
}

struct LongShared {
  BlockTeamShared team;
  unsigned count;                 ///< of the long contours among those that the block looks at together
  unsigned found[kArrayThreads];  ///< their numbers
};

/// Neighbours in number are given to different blocks. `room` as above.
__global__ void __launch_bounds__(kArrayThreads)
    measure_long(const __grid_constant__ ContoursView out, GridPoint* room) {
  auto& shared = block_shared<LongShared>();
  const unsigned contours = contours_of(out);
  for (unsigned first = blockIdx.x; first < contours; first += all_threads()) {
    if (threadIdx.x == 0) shared.count = 0;
    __syncthreads();
    const unsigned mine = first + gridDim.x * threadIdx.x;
    if (mine < contours && points_of(out, mine) >= kLong) shared.found[atomicAdd(&shared.count, 1U)] = mine;
    __syncthreads();
    const unsigned count = shared.count;
    for (unsigned i = 0; i < count; ++i) measure_contour(BlockTeam(shared.team), out, shared.found[i], room);
    __syncthreads();  // all have read
  }
}

}  // namespace contorno::measure_cuda
