#include "stages/contour_prep/track/pairing.h"

#include <algorithm>

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
