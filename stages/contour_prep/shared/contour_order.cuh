// The kernels of ContourOrder.
//
//   measure_first  the words of the first contours of each class of an order
//   (sum)          words become places
//   place_whole    all of the contours but their points
//   copy_whole     every point to its place; `starts` as of gather_contours
#pragma once

#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/own_points.h"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::contour_order_cuda {

__global__ void __launch_bounds__(kArrayThreads)
    measure_first(const __grid_constant__ PlacementView placement, unsigned limit) {
  const ContoursView& in = placement.in;
  measure_contours(placement, [&](unsigned i) {
    const unsigned k = part_of(in.class_begin, static_cast<unsigned>(in.format.classes), i);
    return i - in.class_begin[k] < limit ? contour_word(points_of(in, placement.order[i])) : 0ULL;
  });
}

__global__ void __launch_bounds__(kArrayThreads)
    place_whole(const __grid_constant__ PlacementView placement) {
  place_contours(placement, [&](unsigned contour) { return placement.in.closed[contour] != 0; });
}

__global__ void __launch_bounds__(kArrayThreads)
    copy_whole(const __grid_constant__ PlacementView placement, const unsigned* starts) {
  const ContoursView &in = placement.in, &out = placement.out;
  const unsigned contours = out.class_begin[out.format.classes], points = out.offsets[contours];
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned place = part_of(out.offsets, contours, i);
    const unsigned contour = placement.sources[place], k = i - out.offsets[place];
    const unsigned from =
        starts == nullptr ? k
                          : drawn_point(points_of(in, contour), in.closed[contour] != 0, starts[contour], k);
    out.points[i] = in.points[in.offsets[contour] + from];
  }
}

}  // namespace contorno::contour_order_cuda
