// The kernel of measure_map that sums over the samples of spans: kSpanLanes threads a span, so that they read
// samples that lie beside each other.
#pragma once

#include "cuda/threads.cuh"
#include "geometry/team.cuh"
#include "stages/contour_prep/measure_map/stage.h"

namespace contorno::map_measuring {

template <class T>
__global__ void __launch_bounds__(kArrayThreads)
    measure_spans(const __grid_constant__ Regions regions, SampleSums* of_spans) {
  const Word spans = regions.stored() / 2;
  const CrossingKeys& form = regions.form;
  const auto classes = static_cast<unsigned>(regions.contours.format.classes);
  constexpr unsigned kSpansOfWarp = kWarpLanes / kSpanLanes;
  const unsigned lane = warp_lane() % kSpanLanes;
  for (Word first = Word{global_thread() / kWarpLanes} * kSpansOfWarp; first < spans;
       first += Word{all_threads() / kWarpLanes} * kSpansOfWarp) {
    const Word span = first + warp_lane() / kSpanLanes;
    SampleSums sums;
    if (span < spans) {
      const Word from = regions.sorted[2 * span], to = regions.sorted[2 * span + 1];
      const unsigned of_class = part_of(regions.contours.class_begin, classes, form.contour(from));
      for (int col = form.col(from) + static_cast<int>(lane); col < form.col(to);
           col += static_cast<int>(kSpanLanes))
        sums.add(regions.planes.at<T>(of_class, form.row(from), col));
    }
    for (unsigned step = kSpanLanes / 2; step > 0; step /= 2) sums.add(of_other_lane(sums, step));
    if (span < spans && lane == 0) of_spans[span] = sums;
  }
}

}  // namespace contorno::map_measuring
