#include "tools/replay/box_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stages/shared/partner_tree.h"

namespace contorno {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

using Sides = std::array<double, 4>;

/// The least and the greatest value of each side over some boxes.
struct SideBounds {
  Sides low{kEndless, kEndless, kEndless, kEndless}, high{-kEndless, -kEndless, -kEndless, -kEndless};

  SideBounds() = default;
  explicit SideBounds(const Sides& sides) : low(sides), high(sides) {}
  void widen(const SideBounds& other) {
    for (std::size_t k = 0; k < low.size(); ++k)
      low[k] = std::min(low[k], other.low[k]), high[k] = std::max(high[k], other.high[k]);
  }
};

/// Pairs by how little their sides differ.
struct BoxRules {
  using Value = Sides;
  using Score = std::uint64_t;
  using Bounds = SideBounds;
  static constexpr int kSides = 4;

  double reach = 0;

  static double side(const Sides& sides, int k) { return sides[static_cast<std::size_t>(k)]; }
  static double spread(const SideBounds& bounds, int k) {
    return bounds.high[static_cast<std::size_t>(k)] - bounds.low[static_cast<std::size_t>(k)];
  }
  Score score(const Sides& one, const Sides& other) const { return most_score(SideBounds(one), other); }
  Score most_score(const SideBounds& bounds, const Sides& sides) const {
    double difference = 0;
    for (std::size_t k = 0; k < sides.size(); ++k)
      difference = std::max({difference, bounds.low[k] - sides[k], sides[k] - bounds.high[k]});
    // The less, the better; numbers that are not below 0 are in the order of their bits.
    return difference <= reach ? ~std::bit_cast<std::uint64_t>(difference) : 0;
  }
};

using BoxTree = PartnerTree<BoxRules>;

/// A tree with its memory.
struct OwnTree {
  std::vector<BoxTree::Item> items;
  std::vector<BoxTree::Node> nodes;
  std::vector<std::uint32_t> places, roots;
  BoxTree tree;

  OwnTree(std::span<const ContourBox> boxes, double reach)
      : items(boxes.size()),
        nodes(boxes.size()),
        places(boxes.size()),
        roots(2),
        tree({.items = items, .nodes = nodes, .places = places, .roots = roots}, BoxRules{reach}) {
    const auto is_number = [](double side) { return std::isfinite(side); };
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
      if (std::all_of(boxes[i].sides.begin(), boxes[i].sides.end(), is_number))
        tree.add({.value = &boxes[i].sides, .index = i, .group = boxes[i].closed ? 1U : 0U, .key = i});
    tree.build();
  }
};

/// See pair_in_chains; those before are left.
class BoxSides {
 public:
  BoxSides(std::span<const ContourBox> before, std::span<const ContourBox> after, double reach)
      : before_(before),
        after_(after),
        lefts_(before, reach),
        rights_(after, reach),
        right_before_(before.size(), kNoPartner),
        left_before_(after.size(), kNoPartner) {}

  bool is_free(std::uint32_t left) const { return right_before_[left] == kNoPartner; }
  std::uint32_t best_right(std::uint32_t left) { return best(before_[left], rights_); }
  std::uint32_t best_left(std::uint32_t right) { return best(after_[right], lefts_); }
  void pair(std::uint32_t left, std::uint32_t right) {
    right_before_[left] = right;
    lefts_.tree.take(left), rights_.tree.take(right);
  }
  void leave(std::uint32_t /*left*/) {}
  std::uint32_t right_before(std::uint32_t left) const { return right_before_[left]; }
  std::uint32_t left_before(std::uint32_t right) const { return left_before_[right]; }
  void set_right_before(std::uint32_t left, std::uint32_t right) { right_before_[left] = right; }
  void set_left_before(std::uint32_t right, std::uint32_t left) { left_before_[right] = left; }

  std::uint64_t compared() const { return compared_; }

 private:
  std::uint32_t best(const ContourBox& box, const OwnTree& among) {
    for (const double side : box.sides)
      if (!std::isfinite(side)) return kNoPartner;
    return among.tree.best(box.sides, box.closed ? 1 : 0, compared_);
  }

  std::span<const ContourBox> before_, after_;
  OwnTree lefts_, rights_;
  std::vector<std::uint32_t> right_before_, left_before_;
  std::uint64_t compared_ = 0;
};

}  // namespace

ContourBox::ContourBox(std::span<const Point> points, bool is_closed)
    : sides{kEndless, kEndless, -kEndless, -kEndless}, closed(is_closed) {
  for (const Point& point : points)
    sides = {std::fmin(sides[0], point.col), std::fmin(sides[1], point.row), std::fmax(sides[2], point.col),
             std::fmax(sides[3], point.row)};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pair_boxes(std::span<const ContourBox> before,
                                                                std::span<const ContourBox> after,
                                                                double reach, std::uint64_t* compared) {
  BoxSides sides(before, after, reach);
  pair_in_chains(static_cast<std::uint32_t>(before.size()), sides);
  if (compared != nullptr) *compared += sides.compared();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < before.size(); ++i)
    if (!sides.is_free(i)) pairs.emplace_back(i, sides.right_before(i));
  return pairs;
}

}  // namespace contorno
