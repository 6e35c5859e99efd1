// exclude on the CPU, and on the device where there is one (the harness compares), against a reference that
// compares each point with everything that was painted, in whole numbers.
#include "stages/contour_prep/exclude/stage.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "tests/stages/contour_prep/near_points.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// A list of numbers on quarters of px, `each` for every one of `count`.
std::vector<double> random_numbers(std::uint64_t seed, int count, int span, double from) {
  Random random(seed);
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(from + random.below(4 * span) / 4.0);
  return numbers;
}

/// In quarters of px. The distance across a stroke by Pythagoras from that to its begin and that along it.
bool is_under(const TestPoint& p, const TestPoint& a, const TestPoint& b, double radius) {
  const std::int64_t square = std::llround(16 * radius * radius), length = square_of(a, b);
  const std::int64_t to_a = square_of(p, a), to_b = square_of(p, b);
  if (to_a <= square || to_b <= square) return true;
  // Twice the part along the stroke, times its length, by the law of cosines.
  const std::int64_t twice_along = to_a + length - to_b;
  if (twice_along <= 0 || twice_along >= 2 * length) return false;
  return 4 * to_a * length - twice_along * twice_along <= 4 * square * length;
}

bool is_painted(const TestPoint& p, const std::vector<double>& points, const std::vector<double>& strokes,
                double radius) {
  for (std::size_t i = 0; i < points.size(); i += 2)
    if (is_under(p, {points[i], points[i + 1]}, {points[i], points[i + 1]}, radius)) return true;
  for (std::size_t i = 0; i < strokes.size(); i += 4)
    if (is_under(p, {strokes[i], strokes[i + 1]}, {strokes[i + 2], strokes[i + 3]}, radius)) return true;
  return false;
}

template <class Excluded>
std::vector<TestContour> reference(const std::vector<TestContour>& contours, const Excluded& excluded) {
  std::vector<TestContour> kept;
  for (const TestContour& contour : contours) {
    std::vector<TestPoint> rest;
    for (const TestPoint& point : own_points_of(contour))
      if (!excluded(point)) rest.push_back(point);
    if (const auto [remains, any] = remains_of(contour, rest); any) kept.push_back(remains);
  }
  return kept;
}

Settings settings(const std::vector<double>& points, const std::vector<double>& strokes, double radius) {
  return {{"points", points}, {"strokes", strokes}, {"radius", radius}};
}

}  // namespace

TEST_CASE("exclude leaves out the points that are under points and strokes of the brush") {
  const std::vector<TestContour> contours = walking_contours(9, 4, 50, 40, -9, -5);
  std::size_t fewest = contours.size(), most = 0;
  for (const double radius : {0.0, 0.25, 1.25, 5.0, 60.0})
    for (const auto& [points, strokes] : {std::pair{0, 0}, {1, 0}, {0, 1}, {300, 0}, {0, 12}, {40, 150}}) {
      INFO("radius ", radius, ", ", points, " points, ", strokes, " strokes");
      const auto brush = random_numbers(3, 2 * points, 50, -12),
                 lines = random_numbers(4, 4 * strokes, 50, -12);
      const std::vector<TestContour> wanted =
          reference(contours, [&](const TestPoint& p) { return is_painted(p, brush, lines, radius); });
      fewest = std::min(fewest, wanted.size()), most = std::max(most, wanted.size());
      check_contours(exclude_stage(), settings(brush, lines, radius), contours, wanted, 4);
    }
  CHECK(fewest == 0);
  CHECK(most == contours.size());
}

TEST_CASE("exclude finds what was painted far from the map, where squares need more than 32 bits") {
  for (const auto& [x, y] : {TestPoint{-90000, 120000}, {1000000, -46345}, {46330, 46335}}) {
    std::vector<TestContour> contours = walking_contours(5, 1, 30, 20, x, y);
    for (const TestContour& near : walking_contours(6, 1, 30, 20)) contours.push_back(near);
    const std::vector<double> points{x + 5, y + 5, 3, 4}, strokes{x, y + 20, x + 20, y};
    const auto wanted =
        reference(contours, [&](const TestPoint& p) { return is_painted(p, points, strokes, 4); });
    CHECK(wanted.size() < contours.size());
    check_contours(exclude_stage(), settings(points, strokes, 4), contours, wanted, 1);
    // A stroke through everything.
    check_contours(exclude_stage(), settings({}, {0, 0, x, y}, 60), contours, {}, 1);
  }
}

TEST_CASE("exclude takes points at the radius too, and with radius 0 equal points and those on strokes") {
  const std::vector<TestContour> contours{{0, false, {{3, 4}, {3.0000005, 4}, {4, 3}}},
                                          {1, true, {{6, 8}, {7, 8}, {7, 9}, {6, 8}}}};
  check_contours(exclude_stage(), settings({0, 0}, {}, 5), contours,
                 {{0, false, {{3.0000005, 4}}}, contours[1]}, 2);
  check_contours(exclude_stage(), settings({3, 4}, {}, 0), contours,
                 {{0, false, {{3.0000005, 4}, {4, 3}}}, contours[1]}, 2);
  check_contours(exclude_stage(), settings({}, {0, 0, 6, 8}, 0), contours,
                 {{0, false, {{3.0000005, 4}, {4, 3}}}, {1, false, {{7, 8}, {7, 9}}}}, 2);
  check_contours(exclude_stage(), {}, contours, contours, 2);
  check_contours(exclude_stage(), settings({3, 4}, {}, 0), {}, {}, 3);
  // Brush points are rounded to float32 as contours are.
  check_contours(exclude_stage(), settings({0.1, 0.2}, {}, 0), {{0, false, {{0.1, 0.2}}}}, {}, 1);
}

TEST_CASE("exclude leaves out points whose nearest sample of the mask is not 0") {
  const std::vector<TestContour> contours = walking_contours(9, 3, 60, 20, -4, -3);
  auto mask = std::make_shared<Mask>();
  mask->width = 13, mask->height = 7;
  Random random(2);
  for (int i = 0; i < 13 * 7; ++i) mask->values.push_back(random.below(3) == 0 ? 0.0 : random.unit() - 0.5);
  const auto wanted = reference(contours, [&](const TestPoint& p) {
    double nearest = 1e9, value = 0;
    for (int y = -9; y < 40; ++y)
      for (int x = -9; x < 40; ++x) {
        const double away = std::hypot(p.first - x, p.second - y);
        if (away > nearest) continue;
        const bool inside = x >= 0 && x < mask->width && y >= 0 && y < mask->height;
        nearest = away, value = inside ? mask->values[static_cast<std::size_t>(y * mask->width + x)] : 0;
      }
    return value != 0;
  });
  CHECK(wanted.size() < contours.size());
  check_contours(exclude_stage(), {{"mask", SharedMask(mask)}}, contours, wanted, 3);
  // And together with points.
  const auto both = reference(wanted, [](const TestPoint& p) { return square_of(p, {12, 9}) <= 16 * 16; });
  CHECK(both.size() < wanted.size());
  check_contours(exclude_stage(),
                 {{"mask", SharedMask(mask)}, {"points", std::vector<double>{12, 9}}, {"radius", 4.0}},
                 contours, both, 3);
}

TEST_CASE("exclude keeps points that are not finite") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::vector<TestContour> contours{{0, false, {{nan, 1}, {1, nan}, {inf, -inf}, {1, 1}}}};
  auto mask = std::make_shared<Mask>();
  mask->width = mask->height = 4, mask->values.assign(16, 1);
  Settings all = settings({0, 0}, {0, 0, 9, 9}, 1e9);
  all.emplace_back("mask", SharedMask(mask));
  check_contours(exclude_stage(), all, contours, {{0, false, {{nan, 1}, {1, nan}, {inf, -inf}}}}, 1);
}

TEST_CASE("exclude compares many points with many of the brush, in one place, apart and in long strokes") {
  constexpr int kMany = 100000;
  TestContour all{0, false, {}}, rest{0, false, {}};
  std::vector<double> brush, same, strokes;
  for (int i = 0; i < kMany; ++i) {
    all.points.emplace_back(i % 317, i / 317);
    if (i / 317 % 2 == 1) rest.points.push_back(all.points.back());
    if (i / 317 % 2 == 0) brush.push_back(i % 317), brush.push_back(i / 317);
    same.push_back(-5), same.push_back(7);
  }
  check_contours(exclude_stage(), settings(brush, {}, 0), {all}, {rest}, 1);
  check_contours(exclude_stage(), settings(brush, {}, 0.5), {all}, {rest}, 1);
  check_contours(exclude_stage(), settings(same, {}, 4.75), {all}, {all}, 1);
  for (int row = 0; row < 316; row += 2) strokes.insert(strokes.end(), {0.0, 1.0 * row, 316.0, 1.0 * row});
  check_contours(exclude_stage(), settings({}, strokes, 0.75), {all}, {rest}, 1);
}

TEST_CASE("exclude changes nothing when it is applied again") {
  const TestContours in(64, 64, 3, walking_contours(21, 3, 50, 30));
  const Settings brush = settings(random_numbers(1, 40, 30, 0), random_numbers(2, 12, 30, 0), 2);
  StageHarness once(exclude_stage(), brush), twice(exclude_stage(), brush);
  once.run({in.view});
  const auto& first = std::get<ContoursView>(once.value());
  CHECK(first.counts->points < in.view.counts->points);
  twice.run({first});
  CHECK(same_contours(std::get<ContoursView>(twice.value()), first));
}

TEST_CASE("exclude refuses lists with a number too much, and radii below 0") {
  CHECK_THROWS_WITH_AS(StageHarness(exclude_stage(), settings({1, 2, 3}, {}, 1)),
                       "points has 3 numbers, allowed pairs x, y", Error);
  CHECK_THROWS_WITH_AS(StageHarness(exclude_stage(), settings({}, {1, 2, 3}, 1)),
                       "strokes has 3 numbers, allowed four a stroke: x0, y0, x1, y1", Error);
  CHECK_THROWS_WITH_AS(StageHarness(exclude_stage(), settings({}, {}, -1)),
                       "radius is -1, allowed 0 to 1000000000 px", Error);
  std::vector<std::string> refused;
  ParamSet params(exclude_stage().params);
  params.set("points", std::vector<double>{1});
  params.set("strokes", std::vector<double>{1, 2});
  params.try_out(ParamTrial(
      "", [&](std::string_view name, ExitCode, const std::string&) { refused.emplace_back(name); }));
  CHECK(refused == std::vector<std::string>{"points", "strokes"});
}
