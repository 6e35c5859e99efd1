#include "geometry/hull.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace contorno::measuring {
namespace {

// Fewer points are sorted by comparisons at once.
constexpr std::size_t kFewPoints = 48;
// Bins of more points are sorted as by std::sort, smaller ones by insertion.
constexpr std::uint32_t kFewInBin = 16;

/// Sorts a few points by insertion.
void insert_sorted(GridPoint* begin, GridPoint* end) {
  for (GridPoint* next = begin; next < end; ++next) {
    const GridPoint point = *next;
    GridPoint* at = next;
    for (; at > begin && point < at[-1]; --at) *at = at[-1];
    *at = point;
  }
}

/// Sorts `count` points, which are in `from`, into `to`; their columns lie in [least, most]. There is a bin a
/// column or a power of two of columns, and there are at most as many bins as points.
void sort_by_bins(const GridPoint* from, std::size_t count, std::int64_t least, std::int64_t most,
                  std::uint32_t* bins, GridPoint* to) {
  const auto span = static_cast<std::uint64_t>(most - least);
  const int shift =
      std::max(static_cast<int>(std::bit_width(span)) - static_cast<int>(std::bit_width(count)) + 1, 0);
  const std::size_t used = (span >> shift) + 1;
  const auto bin_of = [&](const GridPoint& point) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(point.col - least) >> shift);
  };
  std::fill_n(bins, used, 0U);
  for (std::size_t i = 0; i < count; ++i) ++bins[bin_of(from[i])];
  std::uint32_t before = 0;
  for (std::size_t bin = 0; bin < used; ++bin) before += std::exchange(bins[bin], before);
  for (std::size_t i = 0; i < count; ++i) to[bins[bin_of(from[i])]++] = from[i];
  // Each bin's entry says by now where the bin ends.
  std::uint32_t begin = 0;
  for (std::size_t bin = 0; bin < used; begin = bins[bin++]) {
    if (bins[bin] - begin > kFewInBin)
      std::sort(to + begin, to + bins[bin]);
    else
      insert_sorted(to + begin, to + bins[bin]);
  }
}

/// One chain of the hull, of points in order, from the first to the last one. Returns where it ends.
template <class It>
GridPoint* add_chain(It begin, It end, GridPoint* chain) {
  GridPoint* top = chain;
  for (; begin != end; ++begin) {
    while (top - chain >= 2 && twice_triangle(top[-2], top[-1], *begin) <= 0) --top;
    *top++ = *begin;
  }
  return top;
}

}  // namespace

double hull_area(const OneThread&, const Point* points, std::uint32_t count, const HullRoom& room) {
  GridPoint *const sorted = room.sorted, *const hull = room.hull;
  // Points that are sorted by bins wait where the hull comes later.
  GridPoint* const first = count < kFewPoints ? sorted : hull;
  std::int64_t least = 0, most = 0;  // the first point is at 0
  for (std::size_t i = 0; i < count; ++i) {
    const Offset offset(points[i], points[0]);
    if (!is_on_grid(offset.row) || !is_on_grid(offset.col)) return kNaN;
    first[i] = grid_point(offset);
    least = std::min(least, first[i].col);
    most = std::max(most, first[i].col);
  }
  if (first == sorted)
    std::sort(sorted, sorted + count);
  else
    sort_by_bins(first, count, least, most, room.bins, sorted);
  GridPoint* const end = std::unique(sorted, sorted + count);
  if (end - sorted < 3) return 0;
  GridPoint* const turn = add_chain(sorted, end, hull) - 1;
  GridPoint* const last =
      add_chain(std::make_reverse_iterator(end), std::make_reverse_iterator(sorted), turn);
  Wide twice_area = 0;
  for (const GridPoint* corner = hull + 1; corner + 1 < last; ++corner)
    twice_area += twice_triangle(hull[0], corner[0], corner[1]);
  return area_on_grid(twice_area);
}

}  // namespace contorno::measuring
