// The kernel of measure: a warp a contour. Its lanes add up what rules.h says of their segments. The convex
// hull is found in two steps: points that are no corners of the hull of the few around them go, again and
// again, and around those that are left the hull is wrapped: from each corner the warp looks for the next
// one.
#pragma once

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

/// The points of one contour.
struct WarpContour {
  const Point* points;
  unsigned count;

  __device__ Offset offset(unsigned i) const { return {points[i], points[0]}; }
};

__device__ __forceinline__ OutlineSums outline_of(const WarpContour& contour) {
  OutlineSums sums;
  for (unsigned i = warp_lane() + 1; i < contour.count; i += kLanes)
    sums.add(contour.offset(i - 1), contour.offset(i));
  return {sum_of_warp(sums.area), contorno::sum_of_warp(sums.length)};
}

__device__ __forceinline__ Moments line_of(const WarpContour& contour) {
  Moments sums;
  for (unsigned i = warp_lane() + 1; i < contour.count; i += kLanes) {
    const Offset a = contour.offset(i - 1), b = contour.offset(i);
    sums.add(length_of(a, b), a, b);
  }
  return sum_of_warp(sums);
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

/// Points that one lane looks at together, to thin out.
inline constexpr unsigned kGroup = 16;

/// Which of `count` points, at most kGroup, are corners of their hull, as bits: of equal points, one.
__device__ inline unsigned corners_of(const GridPoint (&points)[kGroup], unsigned count) {
  unsigned first = 0;
  for (unsigned i = 1; i < count; ++i)
    if (points[i] < points[first]) first = i;
  unsigned corners = 0;
  for (unsigned corner = first; (corners >> corner & 1) == 0;) {
    corners |= 1U << corner;
    unsigned next = corner;
    for (unsigned i = 0; i < count; ++i)
      if (comes_next(points[corner], points[i], points[next])) next = i;
    corner = points[next] == points[first] ? first : next;
  }
  return corners;
}

/// The points among which the corners of a hull are: numbers of points, or all points.
struct Candidates {
  WarpContour contour;
  unsigned* numbers = nullptr;
  unsigned count = 0;

  __device__ GridPoint operator[](unsigned i) const {
    return grid_point(contour.offset(numbers != nullptr ? numbers[i] : i));
  }
};

/// Leaves out of each kGroup candidates those that are no corners of their hull, and so none of the whole.
/// Writes the numbers of the others to `numbers`, which may be those of the candidates.
__device__ inline Candidates thin_out(const Candidates& candidates, unsigned* numbers) {
  unsigned left = 0;
  for (unsigned first = 0; first < candidates.count; first += kWarpLanes * kGroup) {
    const unsigned begin = min(first + warp_lane() * kGroup, candidates.count);
    const unsigned count = min(kGroup, candidates.count - begin);
    GridPoint points[kGroup];
    unsigned those[kGroup];
    for (unsigned i = 0; i < count; ++i) {
      those[i] = candidates.numbers != nullptr ? candidates.numbers[begin + i] : begin + i;
      points[i] = candidates[begin + i];
    }
    const unsigned corners = count > 0 ? corners_of(points, count) : 0;
    // Where the lane's ones go: behind those of the lanes before.
    unsigned end = static_cast<unsigned>(__popc(corners));
    for (unsigned step = 1; step < kWarpLanes; step *= 2) {
      const unsigned before = __shfl_up_sync(~0U, end, step);
      if (warp_lane() >= step) end += before;
    }
    __syncwarp();  // all have read
    unsigned at = left + end - static_cast<unsigned>(__popc(corners));
    for (unsigned i = 0; i < count; ++i)
      if ((corners >> i & 1) != 0) numbers[at++] = those[i];
    left += __shfl_sync(~0U, end, static_cast<int>(kWarpLanes) - 1);
    __syncwarp();  // all have written
  }
  return {candidates.contour, numbers, left};
}

/// The first candidate in the order of GridPoint, or the one that comes after a corner of the hull, by
/// `before`, which says whether one point comes before another.
template <class Before>
__device__ __forceinline__ GridPoint first_of(const Candidates& candidates, GridPoint best,
                                              const Before& before) {
  for (unsigned i = warp_lane(); i < candidates.count; i += kWarpLanes)
    if (const GridPoint point = candidates[i]; before(point, best)) best = point;
  for (unsigned step = kWarpLanes / 2; step > 0; step /= 2) {
    const auto of_lane = [&](std::int64_t value) {
      return static_cast<std::int64_t>(
          __shfl_xor_sync(~0U, static_cast<long long>(value), static_cast<int>(step)));
    };
    if (const GridPoint other{of_lane(best.row), of_lane(best.col)}; before(other, best)) best = other;
  }
  return best;
}

/// The area of the convex hull in px^2, NaN if a point is not on the grid. `numbers` has a place a point.
__device__ inline double hull_area(const WarpContour& contour, unsigned* numbers) {
  constexpr unsigned kFew = 4 * kWarpLanes;  // that are wrapped as soon as they could be thinned out
  bool on_grid = true;
  for (unsigned i = warp_lane(); i < contour.count; i += kWarpLanes) {
    const Offset offset = contour.offset(i);
    on_grid = on_grid && is_on_grid(offset.row) && is_on_grid(offset.col);
  }
  if (__ballot_sync(~0U, on_grid) != ~0U) return kNaN;
  Candidates candidates{contour, nullptr, contour.count};
  for (unsigned before = ~0U; candidates.count > kFew && candidates.count < before / 8 * 7;) {
    before = candidates.count;
    candidates = thin_out(candidates, numbers);
  }
  const GridPoint first =
      first_of(candidates, candidates[0], [](const GridPoint& a, const GridPoint& b) { return a < b; });
  const auto next = [&](const GridPoint& corner) {
    return first_of(candidates, corner,
                    [&](const GridPoint& a, const GridPoint& b) { return comes_next(corner, a, b); });
  };
  Wide twice_area = 0;
  GridPoint corner = next(first);
  for (unsigned corners = 1; corners < contour.count && !(corner == first); ++corners) {
    const GridPoint after = next(corner);
    twice_area += twice_triangle(first, corner, after);
    corner = after;
  }
  return area_on_grid(twice_area);
}

__device__ inline void measure_contour(const ContoursView& out, unsigned index, unsigned* numbers) {
  const unsigned begin = out.offsets[index];
  const WarpContour contour{out.points + begin, out.offsets[index + 1] - begin};
  const bool empty = contour.count == 0, closed = out.closed[index] != 0;
  const OutlineSums outline = outline_of(contour);
  const double hull = empty ? 0 : hull_area(contour, numbers + begin);
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

/// `sources`: see Stage::selection; `numbers`: memory to find hulls in, one a point of the capacity.
__global__ void __launch_bounds__(kArrayThreads)
    measure_contours(const __grid_constant__ ContoursView out, unsigned* sources, unsigned* numbers) {
  for_warps(contours_of(out), [&](unsigned contour) {
    measure_contour(out, contour, numbers);
    sources[contour] = contour;
  });
}

}  // namespace contorno::measure_cuda
