// track where it is made to be slow: what is compared is counted, and grows no faster than a sort does.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numbers>
#include <string>
#include <vector>

#include "stages/contour_prep/track/pairing.h"

namespace contorno::tracking {
namespace {

/// left, top, right, bottom
using Sides = std::array<double, 4>;

Seen seen_of(const Sides& sides) {
  Seen seen;
  seen.box.add(Point{static_cast<float>(sides[1]), static_cast<float>(sides[0])});
  seen.box.add(Point{static_cast<float>(sides[3]), static_cast<float>(sides[2])});
  seen.row = (sides[1] + sides[3]) / 2, seen.col = (sides[0] + sides[2]) / 2;
  return seen;
}

struct Family {
  std::string name;
  /// Of thing `place` of `count`, in frame 0 or 1.
  std::function<Sides(int place, int count, int frame)> sides;
};

std::vector<Family> families() {
  const auto square = [](double x, double y, double half) {
    return Sides{x - half, y - half, x + half, y + half};
  };
  return {
      {"within each other",
       [=](int i, int n, int frame) { return square(0, 0, (frame == 0 ? 3 * n : 2 * n) + i / 4.0); }},
      {"within each other, from the outer one",
       [=](int i, int n, int frame) { return square(0, 0, (frame == 0 ? 3 * n : 2 * n) - i / 4.0); }},
      {"all equal", [=](int, int, int) { return square(50, 50, 9); }},
      {"in one column", [=](int i, int n, int frame) { return square(0.25 * frame, i * 7919 % n * 3, 9); }},
      {"a comb",
       [](int i, int n, int frame) {
         return Sides{i * 2.0 + frame, 0, i * 2.0 + 1 + frame, 1.0 * n};
       }},
      {"a spiral",
       [=](int i, int, int frame) {
         const double angle = std::sqrt(i) * 2 + 0.01 * frame;
         return square(angle * std::cos(angle), angle * std::sin(angle), 2);
       }},
      {"all near each other's centres",
       [=](int i, int n, int frame) { return square(frame + i * 20.0 / n, i * 7919 % n * 20.0 / n, 0); }},
      {"huge coordinates", [=](int i, int, int frame) { return square(1e30 * i, 1e25 * frame, 1e29); }}};
}

/// How many comparisons it takes, and how many contours show a known object.
struct Paired {
  std::uint64_t compared = 0;
  int known = 0;
};

Paired pair_frames(const Family& family, int count) {
  const auto size = static_cast<std::size_t>(count);
  std::vector<Object> objects;
  std::vector<TrackedContour> contours;
  for (int i = 0; i < count; ++i) {
    objects.push_back({.seen = seen_of(family.sides(i, count, 0)), .id = static_cast<std::uint64_t>(i) + 1});
    contours.push_back({.seen = seen_of(family.sides(i, count, 1))});
  }
  struct Memory {
    std::vector<SeenTree::Item> items;
    std::vector<SeenTree::Node> nodes;
    std::vector<std::uint32_t> places, roots;
    explicit Memory(std::size_t room) : items(room), nodes(room), places(room), roots(1) {}
    SeenTree::Memory view() { return {.items = items, .nodes = nodes, .places = places, .roots = roots}; }
  };
  Memory of_contours(size), of_objects(size);
  std::vector<std::uint32_t> before(size);
  Paired paired;
  paired.compared = pair_contours({.contours = contours,
                                   .objects = objects,
                                   .contours_before = before,
                                   .tree_of_contours = of_contours.view(),
                                   .tree_of_objects = of_objects.view()},
                                  Limits({}), 1, false);
  for (const TrackedContour& contour : contours) paired.known += contour.object != kNone ? 1 : 0;
  return paired;
}

}  // namespace

TEST_CASE("track takes no more comparisons than a sort, whatever lies in what") {
  for (const Family& family : families())
    for (const int count : {500, 4000, 32000}) {
      INFO(count, " contours ", family.name);
      const Paired paired = pair_frames(family, count);
      INFO("comparisons: ", paired.compared, ", known: ", paired.known);
      CHECK(paired.known > 0.9 * count);
      CHECK(static_cast<double>(paired.compared) < 40.0 * count * std::log2(count));
    }
}

}  // namespace contorno::tracking
