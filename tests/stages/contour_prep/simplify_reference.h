// simplify written differently: in whole quarters of px, so that nothing is rounded, by plain recursion and
// by looking at all triangles for each point that goes.
#pragma once

#include <cmath>
#include <tuple>

#include "tests/stages/contour_prep/reference.h"

namespace contorno::test {

struct QuarterPoint {
  std::int64_t x = 0, y = 0;
};

inline std::vector<QuarterPoint> own_quarters(const TestContour& contour) {
  std::vector<QuarterPoint> points;
  for (const auto& [x, y] : contour.points) points.push_back({std::llround(4 * x), std::llround(4 * y)});
  if (contour.closed && points.size() > 1) points.pop_back();
  return points;
}

/// The contour with those of its own points that have a flag.
inline TestContour with_points(const TestContour& contour, const std::vector<bool>& keep) {
  TestContour kept{contour.class_index, contour.closed, {}};
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) kept.points.push_back(contour.points[i]);
  if (kept.closed && kept.points.size() >= 3)
    kept.points.push_back(kept.points.front());
  else
    kept.closed = false;
  return kept;
}

/// Squared distance from a segment in squared quarters.
inline long double squared_distance(const QuarterPoint& p, const QuarterPoint& a, const QuarterPoint& b) {
  const auto dot = [](const QuarterPoint& u, const QuarterPoint& v) { return u.x * v.x + u.y * v.y; };
  const QuarterPoint ab{b.x - a.x, b.y - a.y}, ap{p.x - a.x, p.y - a.y}, bp{p.x - b.x, p.y - b.y};
  if (dot(ab, ap) <= 0) return static_cast<long double>(dot(ap, ap));
  if (dot(ab, bp) >= 0) return static_cast<long double>(dot(bp, bp));
  const long double across = static_cast<long double>(ab.x * ap.y - ab.y * ap.x);
  return across * across / static_cast<long double>(dot(ab, ab));
}

class ReferencePeucker {
 public:
  ReferencePeucker(const TestContour& contour, double tolerance, std::size_t budget)
      : points_(own_quarters(contour)), limit_(16.0L * tolerance * tolerance), closed_(contour.closed) {
    const std::size_t own = points_.size(), fewest = closed_ ? 3 : 2;
    keep_.assign(own, own <= fewest);
    if (own <= fewest) return;
    choose(0, HUGE_VALL, 0);
    if (closed_) {
      points_.push_back(points_[0]);
      ring(own);
    } else {
      choose(own - 1, HUGE_VALL, 0);
      split(0, own - 1, HUGE_VALL, 0, false);
    }
    if (budget > 0) keep_best(std::max(budget, fewest));
  }
  const std::vector<bool>& keep() const { return keep_; }

 private:
  /// A point by the squared distance at which it would go, and how often that is below its own.
  using Choice = std::tuple<long double, int, std::size_t>;

  void choose(std::size_t at, long double importance, int lowered) {
    keep_[at] = true;
    choices_.emplace_back(-importance, lowered, at);
  }
  std::pair<long double, std::size_t> farthest(std::size_t begin, std::size_t end) const {
    std::pair<long double, std::size_t> found{-1, begin};
    for (std::size_t i = begin + 1; i < end; ++i)
      if (const long double d = squared_distance(points_[i], points_[begin], points_[end]); d > found.first)
        found = {d, i};
    return found;
  }
  void split(std::size_t begin, std::size_t end, long double importance, int lowered, bool always) {
    const auto [distance, at] = farthest(begin, end);
    if (at == begin || !(always || distance > limit_)) return;
    const bool lower = distance >= importance;
    const long double own = lower ? importance : distance;
    choose(at, own, lower ? lowered + 1 : 0);
    split(begin, at, own, lower ? lowered + 1 : 0, false);
    split(at, end, own, lower ? lowered + 1 : 0, false);
  }
  void ring(std::size_t own) {
    const auto [distance, at] = farthest(0, own);
    choose(at, distance, 0);
    const bool second = farthest(at, own).first > farthest(0, at).first;
    split(0, at, distance, 0, !second);
    split(at, own, distance, 0, second);
  }
  void keep_best(std::size_t budget) {
    std::sort(choices_.begin(), choices_.end());
    for (std::size_t i = budget; i < choices_.size(); ++i) keep_[std::get<2>(choices_[i])] = false;
  }

  std::vector<QuarterPoint> points_;
  long double limit_;
  bool closed_;
  std::vector<bool> keep_;
  std::vector<Choice> choices_;
};

inline std::vector<bool> reference_visvalingam(const TestContour& contour, double tolerance,
                                               std::size_t budget) {
  const std::vector<QuarterPoint> points = own_quarters(contour);
  const std::size_t fewest = contour.closed ? 3 : 2;
  std::vector<std::size_t> left(points.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (left.size() > fewest) {
    std::int64_t least = -1;
    std::size_t where = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!contour.closed && (i == 0 || i + 1 == left.size())) continue;
      const QuarterPoint &a = points[left[(i + left.size() - 1) % left.size()]], &b = points[left[i]],
                         &c = points[left[(i + 1) % left.size()]];
      const std::int64_t area = std::abs(a.x * (b.y - c.y) + b.x * (c.y - a.y) + c.x * (a.y - b.y));
      if (least < 0 || area < least) least = area, where = i;
    }
    const bool too_many = budget > 0 && left.size() > budget;
    if (!too_many && static_cast<double>(least) > 32 * tolerance) break;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(where));
  }
  std::vector<bool> keep(points.size());
  for (const std::size_t i : left) keep[i] = true;
  return keep;
}

inline std::vector<TestContour> reference_simplified(const std::vector<TestContour>& contours,
                                                     const std::string& method, double tolerance,
                                                     std::size_t budget) {
  std::vector<TestContour> simplified;
  for (const TestContour& contour : contours)
    simplified.push_back(with_points(contour, method == "visvalingam"
                                                  ? reference_visvalingam(contour, tolerance, budget)
                                                  : ReferencePeucker(contour, tolerance, budget).keep()));
  return simplified;
}

/// A contour around (x, y) with a wave of quarters of px, of which many points are equally far.
inline TestContour waved_ring(int class_index, int points, double x, double y, std::uint64_t seed) {
  TestContour ring{class_index, true, {}};
  Random random(seed);
  for (int i = 0; i < points; ++i) {
    const double angle = 6.283185307179586 * i / points, radius = points / 7.0 + random.below(12) / 4.0;
    ring.points.emplace_back(std::round(4 * (x + radius * std::cos(angle))) / 4,
                             std::round(4 * (y + radius * std::sin(angle))) / 4);
  }
  ring.points.push_back(ring.points.front());
  return ring;
}

}  // namespace contorno::test
