#include "stages/contour_prep/simplify/farthest.h"

#include <algorithm>
#include <cmath>

namespace contorno {
namespace {

Farthest portable(const Point* points, std::uint32_t begin, std::uint32_t end, const Chord& chord,
                  double /*least*/) {
  return farthest_of(points, begin, end, chord, begin + 1, 1);
}

}  // namespace

FarthestBetween farthest_between(Simd simd) {
#if defined(__x86_64__)
  if (simd != Simd::Portable) return farthest_between_avx2();
#endif
  static_cast<void>(simd);
  return portable;
}

namespace {

/// 64 times the rounding of one number: what it does to a distance, as a part of those to the ends.
constexpr double kRounding = 0x1p-46;

/// Whether differences of these coordinates, the products of two and the sums of two of these are exact.
bool is_exact(const Point* points, std::uint32_t count) {
  constexpr double kUnits = 256, kMost = 0x1p25 / kUnits;
  const auto is_coarse = [](float v) { return std::abs(v) <= kMost && std::floor(v * kUnits) == v * kUnits; };
  return std::all_of(points, points + count,
                     [&](const Point& p) { return is_coarse(p.row) && is_coarse(p.col); });
}

/// What no scaled distance of a point in a box exceeds, as it is computed. The distance to a segment is
/// greatest in a corner; where nothing but the last product is rounded, what is computed is too.
double most_in(const Box& box, const Chord& chord, double rounding) {
  double most = 0, ends = 0;
  for (const float row : {box.top, box.bottom})
    for (const float col : {box.left, box.right}) {
      const Point corner{row, col};
      most = std::max(most, chord(corner));
      const double rows_a = row - chord.a_row, cols_a = col - chord.a_col;
      const double rows_b = row - chord.b_row, cols_b = col - chord.b_col;
      ends = std::max({ends, rows_a * rows_a + cols_a * cols_a, rows_b * rows_b + cols_b * cols_b});
    }
  const double bound = most + ends * chord.scale * rounding;
  // What a box of all the plane gives is no bound.
  return std::isfinite(bound) ? bound : std::numeric_limits<double>::infinity();
}

}  // namespace

FarthestInBlocks::FarthestInBlocks(const Point* points, std::uint32_t count, Box* boxes)
    : points_(points), blocks_(points, count, boxes), rounding_(is_exact(points, count) ? 0 : kRounding) {
  blocks_.build();
}

Farthest FarthestInBlocks::operator()(FarthestBetween search, std::uint32_t begin, std::uint32_t end,
                                      const Chord& chord) const {
  struct Visit {
    PointBlocks::Block block;
    double most;
  };
  Visit waiting[PointBlocks::kMostLevels + 1];
  int count = 0;
  const std::uint32_t first = begin + 1;
  const auto visit = [&](const PointBlocks::Block& block) {
    if (blocks_.begin(block) < end && blocks_.end(block) > first)
      waiting[count++] = {block, most_in(blocks_.box(block), chord, rounding_)};
  };
  Farthest found{0, first};
  visit(blocks_.top());
  while (count > 0) {
    const auto [block, most] = waiting[--count];
    const std::uint32_t from = std::max(blocks_.begin(block), first), to = std::min(blocks_.end(block), end);
    // What is as far comes before what was found, or does not count.
    if (most < found.distance || (most == found.distance && from > found.at)) continue;
    if (block.level == 0) {
      found = found.or_farther(search(points_, from - 1, to, chord, std::nextafter(found.distance, -1.0)));
      continue;
    }
    const int below = count;
    visit(PointBlocks::half(block, 0));
    visit(PointBlocks::half(block, 1));
    if (count == below + 2 && waiting[below].most >= waiting[below + 1].most)
      std::swap(waiting[below], waiting[below + 1]);
  }
  return found;
}

}  // namespace contorno
