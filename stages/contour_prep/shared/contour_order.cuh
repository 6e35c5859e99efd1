// The kernels of ContourOrder and DeviceChoice.
//
//   measure_first   the words of the first contours of each class of an order
//   measure_chosen  the words of the contours that were chosen
//   write_whole     the contours; `starts` as of gather_contours
#pragma once

#include "geometry/own_points.h"
#include "stages/contour_prep/shared/contour_order.h"
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

/// `chosen`: a flag for each contour.
__global__ void __launch_bounds__(kArrayThreads)
    measure_chosen(const __grid_constant__ PlacementView placement, const std::uint8_t* chosen) {
  measure_contours(placement, [&](unsigned i) {
    return chosen[i] != 0 ? contour_word(points_of(placement.in, i)) : 0ULL;
  });
}

/// The contour, by its place in the order, to which a point of the output belongs: the last one that begins
/// there or before. Those that give nothing begin where the next one does.
__device__ inline unsigned place_of(const SumsBefore& sums, unsigned contours, unsigned point) {
  unsigned low = 0, high = contours;
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (points_in(sums[middle]) <= point ? low : high) = middle;
  }
  return low;
}

__global__ void __launch_bounds__(kArrayThreads)
    write_whole(const __grid_constant__ PlacementView placement, const unsigned* starts) {
  const ContoursView& in = placement.in;
  const SumsBefore sums(placement.sums, block_shared<RangeShared>());
  place_contours(placement, sums, [&](unsigned contour) { return in.closed[contour] != 0; });
  const unsigned contours = contours_of(in), points = points_in(sums[contours]);
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned place = place_of(sums, contours, i), k = i - points_in(sums[place]);
    const unsigned contour = placement.order != nullptr ? placement.order[place] : place;
    const unsigned from =
        starts == nullptr ? k
                          : drawn_point(points_of(in, contour), in.closed[contour] != 0, starts[contour], k);
    placement.out.points[i] = in.points[in.offsets[contour] + from];
  }
}

}  // namespace contorno::contour_order_cuda
