#include "tools/replay/line_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "geometry/points.h"

namespace contorno {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double squared(double a, double b) {
  return a * a + b * b;
}

/// The squared distance from a point to the segment from `a` to `b`.
double squared_distance(const Point& point, const Point& a, const Point& b) {
  const double row = b.row - double{a.row}, col = b.col - double{a.col};
  const double to_row = point.row - double{a.row}, to_col = point.col - double{a.col};
  const double length = squared(row, col);
  const double along = length > 0 ? std::clamp((to_row * row + to_col * col) / length, 0.0, 1.0) : 0.0;
  return squared(to_row - along * row, to_col - along * col);
}

/// A box around points that lies along them: of a smooth piece of a line it is thin in any direction, where a
/// box along the axes would be near points that the piece is far from.
class TurnedBox {
 public:
  TurnedBox() = default;
  template <class ForPoints>  // calls f(point) for each, at least one
  explicit TurnedBox(const ForPoints& for_points) {
    double count = 0;
    for_points([&](const Point& point) { row_ += point.row, col_ += point.col, ++count; });
    row_ /= count, col_ /= count;
    double rows = 0, cols = 0, both = 0;
    for_points([&](const Point& point) {
      const double row = point.row - row_, col = point.col - col_;
      rows += row * row, cols += col * col, both += row * col;
    });
    const double angle = std::atan2(2 * both, cols - rows) / 2;
    if (std::isfinite(angle)) sine_ = std::sin(angle), cosine_ = std::cos(angle);
    for_points([&](const Point& point) {
      const auto [along, across] = turned(point);
      along_[0] = std::min(along_[0], along), along_[1] = std::max(along_[1], along);
      across_[0] = std::min(across_[0], across), across_[1] = std::max(across_[1], across);
    });
  }

  double squared_distance(const Point& point) const {
    const auto [along, across] = turned(point);
    return squared(std::max({along_[0] - along, along - along_[1], 0.0}),
                   std::max({across_[0] - across, across - across_[1], 0.0}));
  }

 private:
  std::pair<double, double> turned(const Point& point) const {
    const double row = point.row - row_, col = point.col - col_;
    return {col * cosine_ + row * sine_, row * cosine_ - col * sine_};
  }

  double row_ = 0, col_ = 0, sine_ = 0, cosine_ = 1;
  std::array<double, 2> along_{kInfinity, -kInfinity}, across_{kInfinity, -kInfinity};
};

/// The segments of a line in a tree of boxes, each around those below it.
class SegmentTree {
 public:
  explicit SegmentTree(std::span<const Point> line) : line_(line) {
    // One point is a line without length. What has an end that is no number is near nothing.
    const std::size_t segments = std::max<std::size_t>(line.size(), 2) - 1;
    for (std::uint32_t i = 0; i < segments; ++i)
      if (is_finite(begin_of(i)) && is_finite(end_of(i))) segments_.push_back(i);
    if (segments_.empty()) return;
    nodes_.reserve(2 * segments_.size());
    nodes_.emplace_back();
    split(0, 0, static_cast<std::uint32_t>(segments_.size()));
  }

  /// Squared; infinite where there is no segment. Looks no further when it is `enough` or less: what it
  /// returns may be more than the least then, and is not above `enough`.
  double nearest(const Point& point, double enough, std::uint64_t& compared) const {
    if (nodes_.empty()) return kInfinity;
    std::array<Visit, kDeepest> waiting;
    std::size_t count = 0;
    double best = kInfinity;
    const auto visit = [&](std::uint32_t node) {
      ++compared;
      waiting[count++] = {nodes_[node].box.squared_distance(point), node};
    };
    visit(0);
    while (count > 0 && best > enough) {
      const Visit next = waiting[--count];
      if (next.squared >= best * kNearEnough) continue;
      const Node& node = nodes_[next.node];
      for (std::uint32_t i = node.begin; i < node.end; ++i, ++compared)
        best = std::min(best, squared_distance(point, begin_of(segments_[i]), end_of(segments_[i])));
      if (node.child == 0) continue;
      visit(node.child);
      visit(node.child + 1);
      // The nearer one is looked at first: it lies on top.
      if (waiting[count - 2].squared < waiting[count - 1].squared)
        std::swap(waiting[count - 2], waiting[count - 1]);
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kSegments = 4;
  static constexpr std::size_t kDeepest = 80;  // halves: one more waits a level

  /// What is nearer by less than a millionth is not looked for: of a circle around a point all of it would
  /// be.
  static constexpr double kNearEnough = 1 - 2e-6;

  struct Node {
    TurnedBox box;
    std::uint32_t begin = 0, end = 0;  ///< segments, in their order; of a node with children none
    std::uint32_t child = 0;           ///< the first of two, the second is behind it; 0: none
  };
  struct Visit {
    double squared = 0;
    std::uint32_t node = 0;
  };

  const Point& begin_of(std::uint32_t segment) const { return line_[segment]; }
  const Point& end_of(std::uint32_t segment) const {
    return line_[std::min<std::size_t>(segment + 1, line_.size() - 1)];
  }

  void split(std::uint32_t node, std::uint32_t begin, std::uint32_t end) {
    nodes_[node].box = TurnedBox([&](const auto& use) {
      for (std::uint32_t i = begin; i < end; ++i) use(begin_of(segments_[i])), use(end_of(segments_[i]));
    });
    if (end - begin <= kSegments) {
      nodes_[node].begin = begin, nodes_[node].end = end;
      return;
    }
    // Twice the middle of a segment. Many may lie in one row, as the teeth of a comb: then columns decide.
    const auto middle_of = [&](std::uint32_t segment) {
      const Point &a = begin_of(segment), &b = end_of(segment);
      return std::pair(double{a.row} + double{b.row}, double{a.col} + double{b.col});
    };
    std::pair<double, double> least = middle_of(segments_[begin]), most = least;
    for (std::uint32_t i = begin; i < end; ++i) {
      const auto [row, col] = middle_of(segments_[i]);
      least = {std::min(least.first, row), std::min(least.second, col)};
      most = {std::max(most.first, row), std::max(most.second, col)};
    }
    const bool by_row = most.first - least.first > most.second - least.second;
    const std::uint32_t middle = begin + (end - begin) / 2;
    const auto first = segments_.begin();
    std::nth_element(first + begin, first + middle, first + end, [&](std::uint32_t a, std::uint32_t b) {
      auto one = middle_of(a), other = middle_of(b);
      if (!by_row) std::swap(one.first, one.second), std::swap(other.first, other.second);
      return one < other;
    });
    const auto child = static_cast<std::uint32_t>(nodes_.size());
    nodes_[node].child = child;
    nodes_.resize(nodes_.size() + 2);
    split(child, begin, middle);
    split(child + 1, middle, end);
  }

  std::span<const Point> line_;
  std::vector<std::uint32_t> segments_;
  std::vector<Node> nodes_;
};

/// Numbers below `count` in an order that has nothing to do with how a line runs: only so few of its points
/// are farther than all before them, and the others are settled by the first segment that is near enough.
std::vector<std::uint32_t> scattered(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::uint64_t state = 1;
  for (std::size_t i = count; i > 1; --i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::swap(order[i - 1], order[(state >> 33) % i]);
  }
  return order;
}

double one_way_distance(std::span<const Point> points, std::span<const Point> line, std::uint64_t& compared) {
  const SegmentTree tree(line);
  double largest = 0;
  for (const std::uint32_t i : scattered(points.size())) {
    if (!is_finite(points[i])) return kInfinity;
    largest = std::max(largest, tree.nearest(points[i], largest, compared));
  }
  return std::sqrt(largest);
}

}  // namespace

double distance_between(std::span<const Point> one, std::span<const Point> other, std::uint64_t* compared) {
  std::uint64_t count = 0;
  double distance = kInfinity;
  if (!one.empty() && !other.empty())
    distance = std::max(one_way_distance(one, other, count), one_way_distance(other, one, count));
  if (compared != nullptr) *compared += count;
  return distance;
}

}  // namespace contorno
