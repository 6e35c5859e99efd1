#include "stages/contour_prep/track/pairing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace contorno::tracking {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();
constexpr std::array<float Box::*, SeenRules::kSides> kBoxSides{&Box::top, &Box::left, &Box::bottom,
                                                                &Box::right};

double side_length(float low, float high) {
  return static_cast<double>(high) - static_cast<double>(low);
}

/// At least the overlap of a box with any within the bounds. Rounding keeps the order of what is rounded, so
/// that the first bound is never below what overlap_of gives; where the boxes are all equal it is just that.
double most_overlap(const SeenBounds& bounds, const Box& box) {
  const Box &low = bounds.lowest, &high = bounds.highest;
  const double rows = side_length(std::max(low.top, box.top), std::min(high.bottom, box.bottom)),
               cols = side_length(std::max(low.left, box.left), std::min(high.right, box.right));
  if (!(rows > 0 && cols > 0)) return 0;
  const double both = rows * cols, own = side_length(box.top, box.bottom) * side_length(box.left, box.right);
  const double least =
      std::max(side_length(high.top, low.bottom), 0.0) * std::max(side_length(high.left, low.right), 0.0);
  if (least >= both) return both / (least + own - both);
  // Two boxes have no more in common than either has; a little more for what is rounded.
  constexpr double kRounding = 1 + 1e-9;
  return (both >= own ? 1 : both / own) * kRounding;
}

double gap_to(double value, double low, double high) {
  return std::max({low - value, value - high, 0.0});
}

}  // namespace

SeenBounds::SeenBounds() : top(kNowhere), bottom(-kNowhere), left(kNowhere), right(-kNowhere) {
  constexpr auto kFar = std::numeric_limits<float>::infinity();
  for (float Box::*const side : kBoxSides) lowest.*side = kFar, highest.*side = -kFar;
}

SeenBounds::SeenBounds(const Seen& seen) : SeenBounds() {
  lowest = highest = seen.box;
  if (seen.row == seen.row && seen.col == seen.col) top = bottom = seen.row, left = right = seen.col;
}

void SeenBounds::widen(const SeenBounds& other) {
  for (float Box::*const side : kBoxSides) {
    lowest.*side = std::min(lowest.*side, other.lowest.*side);
    highest.*side = std::max(highest.*side, other.highest.*side);
  }
  top = std::min(top, other.top), bottom = std::max(bottom, other.bottom);
  left = std::min(left, other.left), right = std::max(right, other.right);
}

float SeenRules::side(const Seen& seen, int k) {
  return seen.box.*kBoxSides[static_cast<std::size_t>(k)];
}

double SeenRules::spread(const SeenBounds& bounds, int k) {
  float Box::*const side = kBoxSides[static_cast<std::size_t>(k)];
  return side_length(bounds.lowest.*side, bounds.highest.*side);
}

Score SeenRules::most_score(const SeenBounds& bounds, const Seen& seen) const {
  const double overlap = most_overlap(bounds, seen.box);
  if (overlap > 0 && overlap >= limits_.min_overlap) return score_of_overlap(overlap);
  if (!(bounds.top <= bounds.bottom && seen.row == seen.row && seen.col == seen.col)) return 0;
  const double rows = gap_to(seen.row, bounds.top, bounds.bottom),
               cols = gap_to(seen.col, bounds.left, bounds.right);
  return score_of_square(rows * rows + cols * cols, limits_);
}

}  // namespace contorno::tracking

namespace contorno::tracking {
namespace {

/// Whether a box or a centroid is there that others may be near to.
bool can_fit(const Seen& seen) {
  return seen.box.top <= seen.box.bottom || (seen.row == seen.row && seen.col == seen.col);
}

/// See pair_in_chains; contours are left.
class TreeSides {
 public:
  TreeSides(const PairingWork& work, const Limits& limits)
      : work_(work),
        limits_(limits),
        contours_(work.tree_of_contours, SeenRules(limits)),
        objects_(work.tree_of_objects, SeenRules(limits)) {}

  void build(std::uint64_t number, bool anew) {
    for (std::uint32_t i = 0; i < work_.contours.size(); ++i) {
      const TrackedContour& one = work_.contours[i];
      if (one.object == kNone && can_fit(one.seen)) contours_.add({&one.seen, i, one.of_class, i});
    }
    std::fill(work_.contours_before.begin(), work_.contours_before.end(), kNone);
    for (std::uint32_t i = 0; i < work_.objects.size(); ++i) {
      const Object& one = work_.objects[i];
      if (can_fit(one.seen) && is_awaited(one, number, anew, limits_))
        objects_.add({&one.seen, i, static_cast<std::uint32_t>(one.of_class), one.id});
    }
    if (contours_.size() == 0 || objects_.size() == 0) return;
    contours_.build(), objects_.build();
    pair_in_chains(static_cast<std::uint32_t>(work_.contours.size()), *this);
  }
  std::uint64_t compared() const { return compared_; }

  bool is_free(std::uint32_t contour) const { return work_.contours[contour].object == kNone; }
  std::uint32_t best_right(std::uint32_t contour) {
    const TrackedContour& one = work_.contours[contour];
    return objects_.best(one.seen, one.of_class, compared_);
  }
  std::uint32_t best_left(std::uint32_t object) {
    const Object& one = work_.objects[object];
    return contours_.best(one.seen, static_cast<std::uint32_t>(one.of_class), compared_);
  }
  void pair(std::uint32_t contour, std::uint32_t object) {
    work_.contours[contour].object = object;
    contours_.take(contour), objects_.take(object);
  }
  void leave(std::uint32_t /*contour*/) {}

  std::uint32_t right_before(std::uint32_t contour) const { return work_.contours[contour].object; }
  void set_right_before(std::uint32_t contour, std::uint32_t object) {
    work_.contours[contour].object = object;
  }
  std::uint32_t left_before(std::uint32_t object) const { return work_.contours_before[object]; }
  void set_left_before(std::uint32_t object, std::uint32_t contour) {
    work_.contours_before[object] = contour;
  }

 private:
  const PairingWork& work_;
  const Limits& limits_;
  SeenTree contours_, objects_;
  std::uint64_t compared_ = 0;
};

}  // namespace

std::uint64_t pair_contours(const PairingWork& work, const Limits& limits, std::uint64_t number, bool anew) {
  TreeSides sides(work, limits);
  sides.build(number, anew);
  return sides.compared();
}

}  // namespace contorno::tracking
