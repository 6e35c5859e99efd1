// close_at_border on the CPU, and on the device where there is one (the harness compares): against brackets
// that are taken away pair by pair, and the areas of maps against what lies above the level in each cell.
#include "stages/contour_prep/close_at_border/stage.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "stages/contours/find_contours.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/border_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

using Place = std::pair<double, double>;

/// A border measured clockwise in px from (0, 0).
struct Round {
  double width, height;  // of what it encloses
  double whole() const { return 2 * (width + height); }
  std::optional<double> at(const Place& p) const {
    const auto& [x, y] = p;
    if (!(x >= 0 && x <= width && y >= 0 && y <= height)) return {};
    if (y == 0) return x;
    if (x == width) return width + y;
    if (y == height) return 2 * width + height - x;
    if (x == 0) return whole() - y;
    return {};
  }
  /// The corners behind `from` and before `to`.
  std::vector<Place> corners(double from, double to) const {
    std::vector<Place> found;
    if (to < from) to += whole();
    const std::array<Place, 4> all{Place{0, 0}, {width, 0}, {width, height}, {0, height}};
    const std::array<double, 4> places{0, width, width + height, 2 * width + height};
    for (std::size_t i = 0; i < 8; ++i) {
      const double place = places[i % 4] + (i < 4 ? 0 : whole());
      if (place > from && place < to) found.push_back(all[i % 4]);
    }
    return found;
  }
};

struct Bracket {
  double place;
  bool begins;
  std::size_t contour;
};

/// Which contour follows each one of a class; its own number plus the count of all: none.
std::vector<std::size_t> links(const std::vector<TestContour>& contours, int k, const Round& border) {
  std::vector<std::size_t> next(contours.size(), contours.size());
  std::vector<Bracket> row;
  for (std::size_t c = 0; c < contours.size(); ++c) {
    const auto& points = contours[c].points;
    if (contours[c].class_index != k || contours[c].closed || points.size() < 2) continue;
    if (const auto place = border.at(points.front())) row.push_back({*place, true, c});
    if (const auto place = border.at(points.back())) row.push_back({*place, false, c});
  }
  std::stable_sort(row.begin(), row.end(), [](const Bracket& a, const Bracket& b) {
    return std::pair(a.place, a.begins) < std::pair(b.place, b.begins);
  });
  // An end and a begin beside each other belong together, and go; round and round.
  for (std::size_t i = 0, tried = 0; row.size() > 1 && tried <= row.size(); ++i, ++tried) {
    i %= row.size();
    const std::size_t j = (i + 1) % row.size();
    if (row[i].begins || !row[j].begins) continue;
    next[row[i].contour] = row[j].contour;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
    i = row.size() - 1, tried = 0;
  }
  return next;
}

std::vector<TestContour> reference(const std::vector<TestContour>& contours, int classes, int width,
                                   int height) {
  const Round border{width - 1.0, height - 1.0};
  std::vector<TestContour> made;
  for (int k = 0; k < classes; ++k) {
    const std::vector<std::size_t> next = links(contours, k, border);
    for (std::size_t c = 0; c < contours.size(); ++c) {
      if (contours[c].class_index != k) continue;
      std::vector<std::size_t> ring{c};
      while (ring.size() <= contours.size() && ring.back() < contours.size() && next[ring.back()] != c)
        ring.push_back(next[ring.back()]);
      if (ring.size() > contours.size() || ring.back() == contours.size()) {
        made.push_back(contours[c]);
        continue;
      }
      if (std::ranges::min(ring) != c) continue;
      TestContour whole{k, true, {}};
      for (const std::size_t one : ring) {
        const auto& points = contours[one].points;
        const double end = *border.at(points.back()), begin = *border.at(contours[next[one]].points.front());
        whole.points.insert(whole.points.end(), points.begin(), points.end());
        if (end == begin) whole.points.pop_back();
        for (const Place& corner : border.corners(end, begin)) whole.points.push_back(corner);
      }
      whole.points.push_back(whole.points.front());
      made.push_back(whole);
    }
  }
  return made;
}

/// The same contours the other way round, or on the transposed map.
std::vector<TestContour> reversed(std::vector<TestContour> contours) {
  for (TestContour& one : contours) std::reverse(one.points.begin(), one.points.end());
  return contours;
}
std::vector<TestContour> transposed(std::vector<TestContour> contours) {
  for (TestContour& one : contours)
    for (auto& [x, y] : one.points) std::swap(x, y);
  return contours;
}

const Settings kHigh{{"positive_orientation", std::string("high")}};

void check(const std::vector<TestContour>& contours, const std::vector<TestContour>& wanted, int width,
           int height, int classes = 1, const Settings& settings = {}) {
  const TestContours in(width, height, classes, contours), out(width, height, classes, wanted);
  for (const int threads : {1, 3}) {
    INFO(threads, " threads");
    StageHarness stage(close_at_border_stage(), settings), again(close_at_border_stage(), settings);
    stage.threads(threads).run({in.view});
    stage.rerun();
    CHECK(same_contours(std::get<ContoursView>(stage.value()), out.view));
    again.run({stage.value()});
    CHECK(same_contours(std::get<ContoursView>(again.value()), out.view));
  }
}

double area_of(std::span<const Point> points) {
  double twice = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    twice += static_cast<double>(points[i - 1].col) * points[i].row -
             static_cast<double>(points[i].col) * points[i - 1].row;
  return twice / 2;
}

/// The area above the level in a cell with corners `v`, clockwise. It is the area of the polygon of the high
/// corners and the crossings, in order; where two low corners are joined over the middle, that of two
/// triangles.
double area_above(const std::array<double, 4>& v, double level, bool joins_high) {
  constexpr std::array<Place, 4> kCorners{Place{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  std::array<bool, 4> high{};
  for (std::size_t i = 0; i < 4; ++i) high[i] = v[i] > level;
  const auto part = [&](std::size_t i) { return (level - v[i]) / (v[(i + 1) % 4] - v[i]); };
  if (high[0] == high[2] && high[1] == high[3] && high[0] != high[1] && !joins_high) {
    const std::size_t i = high[0] ? 0 : 1;
    return part(i) * (1 - part((i + 3) % 4)) / 2 + part(i + 2) * (1 - part(i + 1)) / 2;
  }
  std::vector<Place> points;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [x, y] = kCorners[i];
    const auto [u, w] = kCorners[(i + 1) % 4];
    if (high[i]) points.push_back(kCorners[i]);
    if (high[i] != high[(i + 1) % 4]) points.emplace_back(x + part(i) * (u - x), y + part(i) * (w - y));
  }
  double twice = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y] = points[i];
    const auto& [u, w] = points[(i + 1) % points.size()];
    twice += x * w - u * y;
  }
  return twice / 2;
}

/// A map, its contours, and what they enclose when they are closed.
void check_map(const TestImage& map, double level, Connectivity connectivity, Orientation orientation) {
  const int width = map.view.format.width, height = map.view.format.height;
  FindContoursOptions options;
  options.level = level, options.fully_connected = connectivity, options.positive_orientation = orientation;
  const FoundContours found = find_contours(map.view, options);
  std::vector<TestContour> contours;
  for (std::size_t i = 0; i < found.count(); ++i) {
    contours.push_back({0, found.closed[i] != 0, {}});
    for (const PointD& point : found.contour(i)) contours.back().points.emplace_back(point.col, point.row);
  }
  const TestContours in(width, height, 1, contours);
  StageHarness stage(close_at_border_stage(), orientation == Orientation::High ? kHigh : Settings{});
  stage.run({in.view});
  const auto& out = std::get<ContoursView>(stage.value());
  double enclosed = 0, above = 0;
  for (std::uint32_t i = 0; i < out.counts->contours; ++i) {
    CHECK(out.closed[i] != 0);
    CHECK(out.contour(i).front() == out.contour(i).back());
    enclosed += area_of(out.contour(i));
  }
  if (orientation == Orientation::High) enclosed = -enclosed;
  const auto at = [&](int x, int y) { return static_cast<double>(map.at<float>(x, y)); };
  for (int y = 0; y + 1 < height; ++y)
    for (int x = 0; x + 1 < width; ++x)
      above += area_above({at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)}, level,
                          connectivity == Connectivity::High);
  const bool reaches =
      std::any_of(contours.begin(), contours.end(), [](const auto& one) { return !one.closed; });
  // A border that is high all round has no contour.
  if (!reaches && at(0, 0) > level) enclosed += (width - 1.0) * (height - 1.0);
  CHECK(enclosed == doctest::Approx(above).epsilon(1e-6));
}

}  // namespace

TEST_CASE("a contour that cuts a corner is closed over the corner, on the side that is high") {
  const std::vector<TestContour> cut{{0, false, {{2, 0}, {1, 1}, {0, 2}}}};
  check(cut, {{0, true, {{2, 0}, {1, 1}, {0, 2}, {0, 0}, {2, 0}}}}, 8, 6);
  check(reversed(cut), {{0, true, {{0, 2}, {1, 1}, {2, 0}, {7, 0}, {7, 5}, {0, 5}, {0, 2}}}}, 8, 6);
  // What runs around high regions is closed on the other side.
  check(cut, {{0, true, {{2, 0}, {1, 1}, {0, 2}, {0, 5}, {7, 5}, {7, 0}, {2, 0}}}}, 8, 6, 1, kHigh);
  check(reversed(cut), {{0, true, {{0, 2}, {1, 1}, {2, 0}, {0, 0}, {0, 2}}}}, 8, 6, 1, kHigh);
}

TEST_CASE("the two sides of a band are one ring, in the place and with the attributes of the first") {
  // High between columns 2 and 5; the second class has the band alone.
  const TestContour left{0, false, {{2, 5}, {2, 0}}}, right{0, false, {{5, 0}, {5, 5}}},
      hole{0, true, {{3, 3}, {3, 4}, {4, 4}, {3, 3}}};
  const TestContour ring{0, true, {{2, 5}, {2, 0}, {5, 0}, {5, 5}, {2, 5}}};
  TestContour other = left, alone = {1, true, {{2, 5}, {2, 0}, {7, 0}, {7, 5}, {2, 5}}};
  other.class_index = 1;
  check({left, hole, right, other}, {ring, hole, alone}, 8, 6, 2);
  const Attributes given{Attribute::Area};
  const TestContours in(8, 6, 2, {left, hole, right, other}, {}, given);
  StageHarness stage(close_at_border_stage(), {});
  stage.run({in.view});
  const double* const column = std::get<ContoursView>(stage.value()).column(Attribute::Area);
  for (const auto& [place, source] : {std::pair{0, 0}, {1, 1}, {2, 3}})
    CHECK(column[place] == TestContours::attribute_of(Attribute::Area, static_cast<std::uint32_t>(source)));
}

TEST_CASE("what has no two ends on the border stays, and what is linked with it") {
  const std::vector<TestContour> stay{{0, false, {{3, 3}}},
                                      {0, false, {{0, 3}}},
                                      {0, false, {}},
                                      {0, false, {{1, 1}, {2, 2}}},
                                      {0, false, {{-1, 0}, {0, 0.5}}},
                                      {0, false, {{0, 2.5}, {3, 3}}}};
  check(stay, stay, 8, 6);
  // The border from (4, 0) leads to a contour that ends in the middle, as beside samples that are NaN.
  const TestContour first{0, false, {{1, 0}, {4, 0}}}, masked{0, false, {{6, 0}, {6, 3}}},
      apart{0, false, {{7, 3}, {7, 4}}};
  check({first, masked}, {first, masked}, 8, 6);
  check({{0, false, {{2, 5}, {2, 0}}}, masked, {0, false, {{7, 1}, {5, 5}}}},
        {{0, false, {{2, 5}, {2, 0}}}, masked, {0, false, {{7, 1}, {5, 5}}}}, 8, 6);
  check({apart}, {{0, true, {{7, 3}, {7, 4}, {7, 5}, {0, 5}, {0, 0}, {7, 0}, {7, 3}}}}, 8, 6);
}

TEST_CASE("a contour along the whole border, and ends in one place, need no way between") {
  check({{0, false, {{0, 0}, {7, 0}, {7, 5}, {0, 5}, {0, 0}}}},
        {{0, true, {{0, 0}, {7, 0}, {7, 5}, {0, 5}, {0, 0}}}}, 8, 6);
  check({{0, false, {{0, 0}, {7, 0}}}}, {{0, true, {{0, 0}, {7, 0}, {7, 5}, {0, 5}, {0, 0}}}}, 8, 6);
  check({{0, false, {{4, 0}, {4, 0}}}}, {{0, true, {{4, 0}, {4, 0}}}}, 8, 6);
  // Two regions that touch at (4, 0) are joined there.
  check({{0, false, {{4, 0}, {2, 2}, {0, 2}}}, {0, false, {{6, 0}, {5, 2}, {4, 0}}}},
        {{0, true, {{4, 0}, {2, 2}, {0, 2}, {0, 0}, {6, 0}, {5, 2}, {4, 0}}}}, 8, 6);
}

TEST_CASE("ends and begins on the border belong together as brackets do") {
  for (const int per_elsewhere : {0, 3, 20})
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      INFO("seed ", seed, ", one of ", per_elsewhere, " elsewhere");
      const int width = 2 + static_cast<int>(seed) % 5, height = 2 + static_cast<int>(seed) % 3,
                each = seed < 6 ? static_cast<int>(seed) : 80;
      const auto contours = border_contours(seed, 3, each, width, height, per_elsewhere);
      const auto wanted = reference(contours, 3, width, height);
      CHECK((per_elsewhere > 0 || wanted.size() < contours.size() || each < 3));
      check(contours, wanted, width, height, 3);
      check(transposed(contours), transposed(wanted), height, width, 3, kHigh);
    }
  check({}, {}, 8, 6, 2);
}

TEST_CASE("the areas of closed contours add up to the area above the level") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const int width = 2 + random.below(14), height = 2 + random.below(14),
              steps = seed % 3 == 0 ? 1000 : 2 + static_cast<int>(seed % 4);
    // Few different values make crossings on samples, and contours that touch.
    const TestImage map =
        filled_image<float>({.width = width, .height = height, .channels = 1, .type = ElementType::F32},
                            [&](int, int, int) { return random.below(steps); });
    for (const double level : {steps * 0.49, 1.0, steps - 1.75})
      for (const auto connectivity : {Connectivity::Low, Connectivity::High})
        for (const auto orientation : {Orientation::Low, Orientation::High}) {
          INFO("seed ", seed, ", ", width, " x ", height, ", level ", level);
          check_map(map, level, connectivity, orientation);
        }
  }
}

TEST_CASE("maps of one sample or none in a direction, and points that are no numbers, do no harm") {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 5}, {5, 1}, {0, 0}}) {
    const TestContours in(width, height, 1,
                          border_contours(5, 1, 30, std::max(width, 1), std::max(height, 1), 4));
    StageHarness stage(close_at_border_stage(), {});
    stage.run({in.view});
    CHECK(std::get<ContoursView>(stage.value()).counts->contours <= 30);
  }
  const double nan = std::nan("");
  const TestContours in(8, 6, 1, {{0, false, {{nan, 0}, {3, 3}, {0, 2}}}});
  StageHarness stage(close_at_border_stage(), {});
  stage.run({in.view});
  CHECK(same_contours(std::get<ContoursView>(stage.value()), in.view));
}
