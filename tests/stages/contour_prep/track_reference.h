// track written differently: every pair of an object and a contour of its class, sorted from the best to the
// worst and taken in that order. And scenes of moving things for it, with some that appear, leave, hide and
// run into each other, in frames of which some are missing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "stages/contour_prep/track/stage.h"
#include "tests/stages/harness.h"

namespace contorno::test {

struct Scene {
  std::vector<std::uint64_t> numbers;
  std::vector<std::vector<TestContour>> frames;
};

class ReferenceTracker {
 public:
  ReferenceTracker(int classes, const TrackParams& params)
      : counts(static_cast<std::size_t>(classes)), params_(params) {}

  /// NaN of a hole.
  struct Row {
    double id, age;
    bool is(double other_id, double other_age) const {
      const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      return same(id, other_id) && same(age, other_age);
    }
  };
  std::vector<Row> update(std::uint64_t number, const std::vector<TestContour>& contours) {
    if (begun_ && number <= last_number_)
      for (; !known_.empty(); known_.pop_back()) ++counts[of(known_.back())].deaths;
    begun_ = true, last_number_ = number;
    const std::map<std::size_t, std::size_t> shown = match(number, contours);
    std::vector<Thing> left;
    std::vector<Row> rows;
    std::vector<bool> is_seen(known_.size(), false);
    for (std::size_t i = 0; i < contours.size(); ++i) {
      Thing thing = look(contours[i]);
      if (is_hole(thing)) {
        rows.push_back({std::nan(""), std::nan("")});
        continue;
      }
      thing.last = thing.first = number;
      if (const auto found = shown.find(i); found != shown.end()) {
        is_seen[found->second] = true;
        thing.id = known_[found->second].id, thing.first = known_[found->second].first;
      } else {
        thing.id = ++ids_;
        ++counts[of(thing)].births;
      }
      rows.push_back({static_cast<double>(thing.id), static_cast<double>(number - thing.first)});
      left.push_back(thing);
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (is_seen[i]) continue;
      if (number - known_[i].last > static_cast<std::uint64_t>(params_.max_missed))
        ++counts[of(known_[i])].deaths;
      else
        left.push_back(known_[i]);
    }
    for (; left.size() > static_cast<std::size_t>(params_.max_objects); left.pop_back())
      ++counts[of(left.back())].forgotten;
    known_ = left;
    return rows;
  }
  std::size_t alive() const { return known_.size(); }

  std::vector<TrackCounts> counts;

 private:
  struct Thing {
    int of_class = 0;
    std::array<long double, 4> box{};  // left, top, right, bottom
    long double x = 0, y = 0;
    long double area = 0;  ///< area of a closed contour; 0 of an open one
    std::uint64_t id = 0, first = 0, last = 0;
  };
  bool is_hole(const Thing& thing) const {
    return params_.positive_orientation == Orientation::Low ? thing.area < 0 : thing.area > 0;
  }
  static std::size_t of(const Thing& thing) { return static_cast<std::size_t>(thing.of_class); }

  static Thing look(const TestContour& contour) {
    Thing thing;
    thing.of_class = contour.class_index;
    thing.box = {1e9L, 1e9L, -1e9L, -1e9L};
    for (const auto& [x, y] : contour.points) {
      thing.box = {std::min<long double>(thing.box[0], x), std::min<long double>(thing.box[1], y),
                   std::max<long double>(thing.box[2], x), std::max<long double>(thing.box[3], y)};
    }
    long double area = 0, length = 0;
    std::pair<long double, long double> of_area{}, of_line{};
    const auto& p = contour.points;
    for (std::size_t i = 0; i + 1 < p.size(); ++i) {
      const long double cross = static_cast<long double>(p[i].first) * p[i + 1].second -
                                static_cast<long double>(p[i + 1].first) * p[i].second;
      const long double step = std::hypot(p[i + 1].first - p[i].first, p[i + 1].second - p[i].second);
      const long double x = p[i].first + p[i + 1].first, y = p[i].second + p[i + 1].second;
      area += cross / 2, of_area.first += cross * x / 6, of_area.second += cross * y / 6;
      length += step, of_line.first += step * x / 2, of_line.second += step * y / 2;
    }
    thing.area = contour.closed ? area : 0;
    const bool by_area = contour.closed && std::fabs(area) > 1e-12L;
    if (by_area)
      thing.x = of_area.first / area, thing.y = of_area.second / area;
    else if (length > 0)
      thing.x = of_line.first / length, thing.y = of_line.second / length;
    else if (!p.empty())
      thing.x = p[0].first, thing.y = p[0].second;
    else
      thing.x = thing.y = std::nanl("");
    return thing;
  }

  static long double overlap(const Thing& a, const Thing& b) {
    const long double width = std::min(a.box[2], b.box[2]) - std::max(a.box[0], b.box[0]);
    const long double height = std::min(a.box[3], b.box[3]) - std::max(a.box[1], b.box[1]);
    if (width <= 0 || height <= 0) return 0;
    const auto area = [](const Thing& one) { return (one.box[2] - one.box[0]) * (one.box[3] - one.box[1]); };
    return width * height / (area(a) + area(b) - width * height);
  }

  /// The index of the object that a contour shows, by the contour's.
  std::map<std::size_t, std::size_t> match(std::uint64_t number,
                                           const std::vector<TestContour>& contours) const {
    std::vector<std::tuple<int, float, std::uint64_t, std::size_t, std::size_t>> pairs;  // the best is least
    for (std::size_t i = 0; i < contours.size(); ++i) {
      const Thing thing = look(contours[i]);
      if (is_hole(thing)) continue;
      for (std::size_t k = 0; k < known_.size(); ++k) {
        const Thing& other = known_[k];
        if (other.of_class != thing.of_class ||
            number - other.last > static_cast<std::uint64_t>(params_.max_missed) + 1)
          continue;
        const auto common = static_cast<double>(overlap(thing, other));
        const auto square = static_cast<double>((thing.x - other.x) * (thing.x - other.x) +
                                                (thing.y - other.y) * (thing.y - other.y));
        if (common > 0 && common >= params_.min_overlap)
          pairs.emplace_back(0, -static_cast<float>(common), other.id, i, k);
        else if (square <= params_.max_distance * params_.max_distance)
          pairs.emplace_back(1, static_cast<float>(square), other.id, i, k);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    std::map<std::size_t, std::size_t> shown;
    std::vector<bool> taken(known_.size(), false);
    for (const auto& [kind, badness, id, contour, object] : pairs) {
      if (shown.contains(contour) || taken[object]) continue;
      shown[contour] = object;
      taken[object] = true;
    }
    return shown;
  }

  TrackParams params_;
  std::vector<Thing> known_;
  std::uint64_t ids_ = 0, last_number_ = 0;
  bool begun_ = false;
};

/// Boxes, some with a hole, and open lines with random corners of multiples of 1/8, so that boxes and
/// centroids are exact.
inline Scene moving_scene(std::uint64_t seed, int classes, int things, int frames) {
  struct Mover {
    int of_class;
    double x, y, dx, dy, width, height;
    int hidden;
    bool open;
  };
  Random random(seed);
  const auto eighths = [&](int bound) { return random.below(bound * 8) / 8.0; };
  const auto appear = [&](int edge) {
    return Mover{random.below(classes),
                 edge > 0 ? eighths(edge) : 0,
                 eighths(480),
                 random.below(33) / 8.0,
                 random.below(17) / 8.0 - 1,
                 2 + eighths(20),
                 2 + eighths(20),
                 0,
                 random.below(9) == 0};
  };
  std::vector<Mover> movers;
  for (int i = 0; i < things; ++i) movers.push_back(appear(480));
  Scene scene;
  std::uint64_t number = 3;
  for (int frame = 0; frame < frames; ++frame) {
    std::vector<TestContour> contours;
    for (Mover& one : movers) {
      one.x += one.dx, one.y += one.dy;
      if (one.hidden > 0 && --one.hidden > 0) continue;
      if (random.below(40) == 0) one.hidden = 1 + random.below(9);
      if (one.x > 500 || random.below(200) == 0) one = appear(0);
      TestContour contour{one.of_class, !one.open, {}};
      // Two that touch are one: it has the box of both.
      double left = one.x, top = one.y, right = one.x + one.width, bottom = one.y + one.height;
      if (random.below(15) == 0) right += eighths(20), bottom += eighths(20);
      contour.points = {{left, top}, {right, top}, {right, bottom}};
      if (!one.open) contour.points.insert(contour.points.end(), {{left, bottom}, {left, top}});
      contours.push_back(contour);
      // The hole of another thing may be where this thing was, and as large.
      if (!one.open && random.below(4) == 0)
        contours.push_back({one.of_class,
                            true,
                            {{left + 1, top + 1},
                             {left + 1, bottom - 0.5},
                             {right - 0.5, bottom - 0.5},
                             {right - 0.5, top + 1},
                             {left + 1, top + 1}}});
    }
    if (frame % 11 == 5) contours.push_back({classes - 1, false, {{17, 250}}});
    if (frame % 13 == 7) contours.push_back({0, true, {}});
    // In an order that says nothing, class by class.
    for (std::size_t i = contours.size(); i > 1; --i)
      std::swap(contours[i - 1], contours[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
    std::stable_sort(contours.begin(), contours.end(), [](const TestContour& a, const TestContour& b) {
      return a.class_index < b.class_index;
    });
    if (frame % 17 == 16) contours.clear();
    scene.frames.push_back(contours);
    scene.numbers.push_back(number);
    number += random.below(6) == 0 ? 2 + static_cast<std::uint64_t>(random.below(8)) : 1;
    if (frame == frames / 2) number = 1;  // as where a recording begins anew
  }
  return scene;
}

}  // namespace contorno::test
