// The convex hull of one contour, by a warp or a block. It is found in two steps. First, points that are no
// corners of the hull of the few points around them are left out, again and again. Then the hull is wrapped
// around the points that are left: from each corner all threads look for the next one.
//
// The area is that of hull.cpp, bit for bit: all is decided in integers (measures.h), so any algorithm may
// stand here. Every thread of a team (team.cuh) makes every call.
#pragma once

#include "geometry/hull.h"
#include "geometry/team.cuh"

namespace contorno::measuring {

// Grid points of contours that stay within 2^14 px of their first point, as nearly all do: twice the area of
// a triangle of them has 63 bits and a sign, where others need 128.
struct NearGridPoint {
  std::int32_t row = 0, col = 0;

  __device__ bool operator==(const NearGridPoint& other) const {
    return row == other.row && col == other.col;
  }
  __device__ bool operator<(const NearGridPoint& other) const {
    return col != other.col ? col < other.col : row < other.row;
  }
};
__device__ __forceinline__ bool is_near(const GridPoint& point) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  return point.row > -kMost && point.row < kMost && point.col > -kMost && point.col < kMost;
}
__device__ __forceinline__ std::int64_t twice_triangle(const NearGridPoint& a, const NearGridPoint& b,
                                                       const NearGridPoint& c) {
  const auto apart = [](std::int32_t from, std::int32_t to) { return std::int64_t{to} - from; };
  return apart(a.col, b.col) * apart(a.row, c.row) - apart(a.row, b.row) * apart(a.col, c.col);
}

/// Whether the hull goes from `corner` to `a` rather than to `b`: all other points lie on one side of it, and
/// of those on one line the farthest is the corner.
template <class Grid>
__device__ __forceinline__ bool comes_next(const Grid& corner, const Grid& a, const Grid& b) {
  if (a == corner || b == corner) return b == corner && !(a == corner);
  const auto side = twice_triangle(corner, b, a);
  if (side != 0) return side < 0;
  const auto distance = [&](const Grid& point) {
    const std::int64_t rows = std::int64_t{point.row} - corner.row,
                       cols = std::int64_t{point.col} - corner.col;
    return (rows < 0 ? -rows : rows) + (cols < 0 ? -cols : cols);
  };
  return distance(a) > distance(b);
}

/// Points that one thread looks at together, to thin out.
inline constexpr unsigned kGroup = 16;

/// Which of `count` points, at most kGroup, are corners of their hull, as bits: of equal points, one.
template <class Grid>
__device__ inline unsigned corners_of(const Grid (&points)[kGroup], unsigned count) {
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

/// Leaves out of each kGroup points those that are no corners of their hull, and so none of the whole.
/// Returns how many are left.
template <class Team, class Grid>
__device__ inline unsigned thin_out(const Team& team, Grid* candidates, unsigned count) {
  unsigned left = 0;
  for (unsigned first = 0; first < count; first += team.size() * kGroup) {
    const unsigned begin = min(first + team.rank() * kGroup, count), own = min(kGroup, count - begin);
    Grid points[kGroup];
    for (unsigned i = 0; i < own; ++i) points[i] = candidates[begin + i];
    const unsigned corners = own > 0 ? corners_of(points, own) : 0;
    unsigned all = 0;
    unsigned at = left + team.sum_before(static_cast<unsigned>(__popc(corners)), all);
    team.synchronise();  // all have read
    for (unsigned i = 0; i < own; ++i)
      if ((corners >> i & 1) != 0) candidates[at++] = points[i];
    left += all;
    team.synchronise();  // all have written
  }
  return left;
}

/// The first candidate in the order of points, or the one that comes after a corner of the hull, by `before`,
/// which says whether one point comes before another. Every thread gets it.
template <class Team, class Grid, class Before>
__device__ __forceinline__ Grid first_of(const Team& team, const Grid* candidates, unsigned count, Grid best,
                                         const Before& before) {
  for (unsigned i = team.rank(); i < count; i += team.size())
    if (const Grid point = candidates[i]; before(point, best)) best = point;
  return team.combine(best, [&](Grid& mine, const Grid& other) {
    if (before(other, mine)) mine = other;
  });
}

/// Twice the area of the convex hull of a contour's points, which are put into `candidates`; below 0 where
/// that takes more than `most_looks` at candidates.
template <class Grid, class Team>
__device__ inline Wide twice_hull_area(const Team& team, const Point* points, unsigned all, Grid* candidates,
                                       std::uint64_t most_looks) {
  const unsigned few = 4 * team.size();  // that are wrapped as soon as they could be thinned out
  using Coordinate = decltype(Grid::row);
  for (unsigned i = team.rank(); i < all; i += team.size()) {
    const GridPoint point = grid_point(Offset(points[i], points[0]));
    candidates[i] = {static_cast<Coordinate>(point.row), static_cast<Coordinate>(point.col)};
  }
  team.synchronise();
  unsigned count = all;
  for (unsigned before = ~0U; count > few && count < before / 8 * 7;) {
    before = count;
    count = thin_out(team, candidates, count);
  }
  const Grid first =
      first_of(team, candidates, count, candidates[0], [](const Grid& a, const Grid& b) { return a < b; });
  const auto next = [&](const Grid& corner) {
    return first_of(team, candidates, count, corner,
                    [&](const Grid& a, const Grid& b) { return comes_next(corner, a, b); });
  };
  Wide twice_area = 0;
  Grid corner = next(first);
  for (unsigned corners = 1; corners < all && !(corner == first); ++corners) {
    if (std::uint64_t{corners} * count > most_looks) return -1;
    const Grid after = next(corner);
    twice_area += twice_triangle(first, corner, after);
    corner = after;
  }
  return twice_area;
}

/// hull_area of hull.h on a device; `room` has room for a GridPoint a point.
template <class Team>
__device__ inline double hull_area(const Team& team, const Point* points, std::uint32_t count,
                                   const HullRoom& room) {
  bool on_grid = true, near = true;
  for (unsigned i = team.rank(); i < count; i += team.size()) {
    const Offset offset(points[i], points[0]);
    const bool fits = is_on_grid(offset.row) && is_on_grid(offset.col);
    on_grid = on_grid && fits;
    near = near && fits && is_near(grid_point(offset));
  }
  if (!team.all(on_grid)) return kNaN;
  const Wide twice_area =
      team.all(near) ? twice_hull_area(team, points, count, reinterpret_cast<NearGridPoint*>(room.sorted),
                                       room.most_looks)
                     : twice_hull_area(team, points, count, room.sorted, room.most_looks);
  return twice_area < 0 ? kHullRefused : area_on_grid(twice_area);
}

}  // namespace contorno::measuring
