// The kernel of measure: a warp a contour. Its lanes add up what rules.h says of their segments, and find the
// convex hull by wrapping: from each corner the warp looks for the next one.
#pragma once

#include "stages/contour_prep/measure/rules.h"
#include "stages/contour_prep/shared/threads.cuh"

namespace contorno::measure_cuda {

using namespace measuring;

/// Adds the lanes in pairs, as the host does; the sum is in every lane.
__device__ __forceinline__ void add_lanes(double& value) {
  for (unsigned step = kLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
}
__device__ __forceinline__ void add_lanes(Moments& moments) {
  for (double* const sum :
       {&moments.weight, &moments.row, &moments.col, &moments.row_row, &moments.row_col, &moments.col_col})
    add_lanes(*sum);
}

/// The points of one contour, and the lane of the thread that works on them.
struct WarpContour {
  const Point* points;
  unsigned count, lane;

  __device__ Offset offset(unsigned i) const { return {points[i], points[0]}; }
};

__device__ __forceinline__ OutlineSums outline_of(const WarpContour& contour) {
  OutlineSums sums;
  for (unsigned i = contour.lane + 1; i < contour.count; i += kLanes)
    sums.add(contour.offset(i - 1), contour.offset(i));
  add_lanes(sums.area);
  add_lanes(sums.length);
  return sums;
}

__device__ __forceinline__ Moments line_of(const WarpContour& contour) {
  Moments sums;
  for (unsigned i = contour.lane + 1; i < contour.count; i += kLanes) {
    const Offset a = contour.offset(i - 1), b = contour.offset(i);
    sums.add(length_of(a, b), a, b);
  }
  add_lanes(sums);
  return sums;
}

/// What another lane has.
__device__ __forceinline__ GridPoint of_lane(const GridPoint& point, unsigned step) {
  return {static_cast<std::int64_t>(__shfl_xor_sync(~0U, static_cast<long long>(point.row), step)),
          static_cast<std::int64_t>(__shfl_xor_sync(~0U, static_cast<long long>(point.col), step))};
}

/// The first point of all in the order of GridPoint.
__device__ __forceinline__ GridPoint first_corner(const WarpContour& contour) {
  GridPoint first = grid_point(contour.offset(0));
  for (unsigned i = contour.lane; i < contour.count; i += kLanes) {
    const GridPoint point = grid_point(contour.offset(i));
    if (point < first) first = point;
  }
  for (unsigned step = kLanes / 2; step > 0; step /= 2)
    if (const GridPoint other = of_lane(first, step); other < first) first = other;
  return first;
}

/// Whether the hull goes from `corner` to `a` rather than to `b`: all other points lie on one side of it, and
/// of those on one line the farthest is the corner.
__device__ __forceinline__ bool comes_next(const GridPoint& corner, const GridPoint& a, const GridPoint& b) {
  if (a == corner || b == corner) return b == corner && !(a == corner);
  const Wide side = twice_triangle(corner, b, a);
  if (side != 0) return side < 0;
  const auto distance = [&](const GridPoint& point) {
    const std::int64_t rows = point.row - corner.row, cols = point.col - corner.col;
    return (rows < 0 ? -rows : rows) + (cols < 0 ? -cols : cols);
  };
  return distance(a) > distance(b);
}

__device__ __forceinline__ GridPoint next_corner(const WarpContour& contour, const GridPoint& corner) {
  GridPoint next = corner;
  for (unsigned i = contour.lane; i < contour.count; i += kLanes)
    if (const GridPoint point = grid_point(contour.offset(i)); comes_next(corner, point, next)) next = point;
  for (unsigned step = kLanes / 2; step > 0; step /= 2)
    if (const GridPoint other = of_lane(next, step); comes_next(corner, other, next)) next = other;
  return next;
}

/// The area of the convex hull in px^2, NaN if a point is not on the grid.
__device__ inline double hull_area(const WarpContour& contour) {
  bool on_grid = true;
  for (unsigned i = contour.lane; i < contour.count; i += kLanes) {
    const Offset offset = contour.offset(i);
    on_grid = on_grid && is_on_grid(offset.row) && is_on_grid(offset.col);
  }
  if (__ballot_sync(~0U, on_grid) != ~0U) return kNaN;
  const GridPoint first = first_corner(contour);
  Wide twice_area = 0;
  GridPoint corner = next_corner(contour, first);
  for (unsigned corners = 1; corners < contour.count && !(corner == first); ++corners) {
    const GridPoint next = next_corner(contour, corner);
    twice_area += twice_triangle(first, corner, next);
    corner = next;
  }
  return area_on_grid(twice_area);
}

__device__ inline void measure_contour(const ContoursView& out, unsigned index) {
  const unsigned begin = out.offsets[index];
  const WarpContour contour{out.points + begin, out.offsets[index + 1] - begin, threadIdx.x % kLanes};
  const bool empty = contour.count == 0, closed = out.closed[index] != 0;
  const OutlineSums outline = outline_of(contour);
  const double hull = empty ? 0 : hull_area(contour);
  Ellipse ellipse;
  if (closed && outline.area.weight != 0)
    ellipse = ellipse_of_area(outline.area);
  else if (outline.length != 0)
    ellipse = ellipse_of_line(line_of(contour));
  Range rows, cols;
  for (unsigned i = contour.lane; i < contour.count; i += kLanes)
    rows.add(contour.points[i].row), cols.add(contour.points[i].col);
  for (Range* const range : {&rows, &cols})
    for (unsigned step = kLanes / 2; step > 0; step /= 2)
      range->add({__shfl_xor_sync(~0U, range->least, step), __shfl_xor_sync(~0U, range->greatest, step)});
  if (contour.lane != 0) return;
  write_form(out, index, closed ? outline.area.weight / 2 : 0, outline.length, hull);
  write_ellipse(out, index,
                empty ? Point{static_cast<float>(kNaN), static_cast<float>(kNaN)} : contour.points[0],
                ellipse);
  write_box(out, index, rows, cols);
}

/// `sources`: see Stage::selection.
__global__ void __launch_bounds__(kArrayThreads)
    measure_contours(const __grid_constant__ ContoursView out, unsigned* sources) {
  if (!out.fits()) return;
  const auto contours = static_cast<unsigned>(out.counts->contours);
  for (unsigned contour = global_thread() / kLanes; contour < contours; contour += all_threads() / kLanes)
    measure_contour(out, contour), sources[contour] = contour;
}

}  // namespace contorno::measure_cuda
