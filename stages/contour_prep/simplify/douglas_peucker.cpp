#include "stages/contour_prep/simplify/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace contorno {
namespace {

class Marker {
 public:
  Marker(const DouglasPeucker& step, const OwnPoints& own, std::uint8_t* keep)
      : farthest_(step.farthest),
        points_(own.points),
        limits_(step.limits),
        keep_(keep),
        ranked_(step.ranked != nullptr ? step.ranked + own.begin : nullptr),
        boxes_(step.boxes + PointBlocks::first_box(own.begin)),
        own_(own.count) {}

  void mark_open(std::uint32_t own) {
    keep(0, kMostImportant);
    keep(own - 1, kMostImportant);
    split_all({0, own - 1});
  }

  void mark_closed(std::uint32_t own) {
    keep(0, kMostImportant);
    const Farthest anchor = farthest({0, own}, Chord(points_[0], points_[own]));
    ClosedHalves halves(own, anchor);
    keep(anchor.at, halves.importance);
    const Chord there(points_[0], points_[anchor.at]), back(points_[anchor.at], points_[own]);
    const Farthest of_there = farthest(halves.there, there), of_back = farthest(halves.back, back);
    halves.compare(of_there, of_back);
    const Farthest& third = halves.is_back ? of_back : of_there;
    const Interval& half = halves.is_back ? halves.back : halves.there;
    const std::uint64_t below = importance_of(third.distance, there.scale, halves.importance);
    keep(third.at, below);
    split_all({half.begin, third.at, below});
    split_all({third.at, half.end, below});
    split_all(halves.is_back ? halves.there : halves.back);
  }

  /// Keeps only the `budget` most important of the kept points, of equally important ones the first.
  void keep_at_most(std::uint32_t budget) {
    if (kept_ <= budget) return;
    std::nth_element(ranked_, ranked_ + budget, ranked_ + kept_,
                     [](const RankedPoint& a, const RankedPoint& b) {
                       return a.importance != b.importance ? a.importance > b.importance : a.at < b.at;
                     });
    for (std::uint32_t i = budget; i < kept_; ++i) keep_[ranked_[i].at] = 0;
  }

 private:
  void keep(std::uint32_t at, std::uint64_t importance) {
    keep_[at] = 1;
    if (ranked_ != nullptr) ranked_[kept_] = {importance, at};
    ++kept_;
  }

  Farthest farthest(const Interval& interval, const Chord& chord, double least = -1) {
    const std::uint32_t points = interval.end - interval.begin;
    looked_at_ += points;
    if (looked_at_ > kMostLooks * own_ && points >= PointBlocks::kFewestPoints / 4 &&
        own_ >= PointBlocks::kFewestPoints) {
      if (!blocks_) blocks_.emplace(points_, own_, boxes_);
      return (*blocks_)(farthest_, interval.begin, interval.end, chord);
    }
    return farthest_(points_, interval.begin, interval.end, chord, least);
  }

  /// Keeps the farthest point of the interval if it exceeds the tolerance, and so on on both sides of it.
  void split_all(Interval interval) {
    // The larger side waits, so that those that do are each at most half as long as the one before.
    Interval waiting[33];
    int count = 0;
    for (;;) {
      if (interval.is_empty()) {
        if (count == 0) return;
        interval = waiting[--count];
      }
      const Chord chord(points_[interval.begin], points_[interval.end]);
      const double least = limits_.distance * chord.scale;
      const Farthest found = farthest(interval, chord, least);
      if (!(found.distance > least)) {
        interval.end = interval.begin;
        continue;
      }
      const std::uint64_t importance =
          ranked_ != nullptr ? importance_of(found.distance, chord.scale, interval.importance) : 0;
      keep(found.at, importance);
      Interval left{interval.begin, found.at, importance}, right{found.at, interval.end, importance};
      if (left.end - left.begin > right.end - right.begin) std::swap(left, right);
      if (!right.is_empty()) waiting[count++] = right;
      interval = left;
    }
  }

  /// How often all points are looked at, at most, before there are blocks of them: contours of maps, whose
  /// intervals are halved, need less.
  static constexpr std::uint64_t kMostLooks = 32;

  FarthestBetween farthest_;
  const Point* points_;
  const SimplifyLimits& limits_;
  std::uint8_t* keep_;
  RankedPoint* ranked_;
  Box* boxes_;
  std::uint32_t own_, kept_ = 0;
  std::uint64_t looked_at_ = 0;
  std::optional<FarthestInBlocks> blocks_;
};

}  // namespace

DouglasPeucker::DouglasPeucker(const SimplifyParams& params)
    : limits(params), farthest(farthest_between(best_simd())) {}

void DouglasPeucker::throw_too_much_work(std::uint32_t points) {
  throw Error(
      ExitCode::BadData,
      fmt::format(
          "simplify: a contour of {} points is folded so often, like a comb, that they have to be looked at "
          "more than {} times, allowed up to so many on a device; take backend: cpu, method: "
          "visvalingam, or a greater spacing before (resample)",
          points, WorkLimit::kMostLooks));
}

void mark(const OneThread&, const DouglasPeucker& step, const OwnPoints& own, std::uint8_t* keep) {
  const bool is_whole = own.count <= SimplifyLimits::fewest(own.closed);
  std::fill_n(keep, own.count, static_cast<std::uint8_t>(is_whole ? 1 : 0));
  if (is_whole) return;
  Marker marker(step, own, keep);
  if (own.closed)
    marker.mark_closed(own.count);
  else
    marker.mark_open(own.count);
  if (step.ranked != nullptr) marker.keep_at_most(step.limits.budget(own.count, own.closed));
}

}  // namespace contorno
