// Device function that adds up the sizes of contours by length or area (shared/contour_size.h).
#pragma once

#include "stages/contour_prep/shared/contour_size.h"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno {

/// Adds the part of every segment to the sum of its contour, which begins as 0. Called by all threads of a
/// grid, for contours that fit.
__device__ inline void add_segment_sizes(const ContoursView& in, ContourSize by, unsigned long long* sums) {
  // Segments that one thread adds up before it looks for the next contour.
  constexpr unsigned kEach = 8;
  const unsigned long long points = in.counts->points;
  const auto contours = static_cast<unsigned>(in.counts->contours);
  // Segment i goes from point i to point i + 1, if both belong to one contour.
  for (unsigned long long first = 1ULL * global_thread() * kEach; first < points;
       first += 1ULL * all_threads() * kEach) {
    const auto last = static_cast<unsigned>(min(first + kEach, points));
    unsigned contour = part_of(in.offsets, contours, static_cast<unsigned>(first));
    unsigned begin = in.offsets[contour], end = in.offsets[contour + 1];
    unsigned long long sum = 0;
    for (auto i = static_cast<unsigned>(first); i < last; ++i) {
      if (i == end) {
        if (sum != 0) atomicAdd(&sums[contour], sum);
        sum = 0;
        while (i == end) begin = end, end = in.offsets[++contour + 1];
      }
      if (i + 1 < end)
        sum += static_cast<unsigned long long>(
            segment_size(by, in.points[begin], in.points[i], in.points[i + 1]));
    }
    if (sum != 0) atomicAdd(&sums[contour], sum);
  }
}

}  // namespace contorno
