// The kernel of DeviceNewPoints.
//
//   place_points  from the sums of counts: offsets, closed flags, attributes, begins of classes, counts
#pragma once

#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::new_points_cuda {

/// `before`: of each contour of the capacity and one more, the points of those before. `needed` is
/// page-locked: points of the frame; 0 if the input did not fit.
__global__ void __launch_bounds__(kArrayThreads)
    place_points(const __grid_constant__ ContoursView in, const __grid_constant__ ContoursView out,
                 const std::uint64_t* before, std::uint64_t* needed) {
  const bool in_fits = in.fits();
  const unsigned contours = contours_of(in);
  const std::uint64_t points = before[contours], capacity = out.format.point_capacity;
  const bool fits = in_fits && points <= capacity;
  if (global_thread() == 0) {
    // Where the input did not fit, the output may not seem to fit either.
    const std::uint64_t more = in.counts->points > capacity ? in.counts->points : capacity + 1;
    *out.counts = {in_fits ? points : more, in.counts->contours};
    *needed = in_fits ? points : 0;
  }
  for (unsigned k = global_thread(); k <= static_cast<unsigned>(in.format.classes); k += all_threads())
    out.class_begin[k] = fits ? in.class_begin[k] : 0;
  for (unsigned i = global_thread(); fits && i <= contours; i += all_threads()) {
    out.offsets[i] = static_cast<unsigned>(before[i]);
    if (i == contours) continue;
    out.closed[i] = in.closed[i];
    copy_attributes(in, i, out, i);
  }
}

}  // namespace contorno::new_points_cuda
