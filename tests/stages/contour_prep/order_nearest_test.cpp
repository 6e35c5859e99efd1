// order_nearest against the paper's matrix of distances, on the CPU, and on the device where there is one
// (the harness compares).
#include "stages/contour_prep/order_nearest/stage.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/drawn_contours.h"
#include "tests/stages/contour_prep/reference.h"
#include "tests/stages/contour_prep/slow_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// The least squared distance of two points; infinite where there is none.
double distance_of(const TestContour& a, const TestContour& b) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [x, y] : a.points)
    for (const auto& [u, v] : b.points) {
      const double squared = (static_cast<float>(x) - static_cast<double>(static_cast<float>(u))) *
                                 (static_cast<float>(x) - static_cast<double>(static_cast<float>(u))) +
                             (static_cast<float>(y) - static_cast<double>(static_cast<float>(v))) *
                                 (static_cast<float>(y) - static_cast<double>(static_cast<float>(v)));
      if (squared < least) least = squared;
    }
  return least;
}

std::vector<TestContour> reference(std::vector<TestContour> left, int classes) {
  std::vector<TestContour> ordered;
  for (int k = 0; k < classes; ++k) {
    const auto of_class = [&](const TestContour& one) { return one.class_index == k; };
    auto next = std::find_if(left.begin(), left.end(), of_class);
    while (next != left.end()) {
      const TestContour current = *next;
      ordered.push_back(current);
      left.erase(next);
      next = left.end();
      double least = 0;
      for (auto one = left.begin(); one != left.end(); ++one) {
        if (!of_class(*one)) continue;
        const double distance = distance_of(current, *one);
        if (next == left.end() || distance < least) next = one, least = distance;
      }
    }
  }
  return ordered;
}

void check_greedy(const std::vector<TestContour>& contours, int classes) {
  const TestContours in(256, 256, classes, contours), wanted(256, 256, classes, reference(contours, classes));
  StageHarness stage(order_nearest_stage(), {});
  stage.run({in.view});
  stage.rerun();
  CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
}

// The way of a pen
// -------------------------------------------------------------------------------------------

using Place = std::pair<double, double>;

double squared(const Place& a, const Place& b) {
  const auto part = [](double one, double other) {
    const double gap = static_cast<double>(static_cast<float>(one)) - static_cast<float>(other);
    return gap * gap;
  };
  return part(a.second, b.second) + part(a.first, b.first);
}

/// All ways in which a pen may draw a contour.
std::vector<TestContour> ways_of(const TestContour& contour) {
  std::vector<TestContour> ways{contour};
  if (!contour.closed && contour.points.size() > 1) {
    ways.push_back(contour);
    std::ranges::reverse(ways[1].points);
  }
  for (std::size_t i = 1; contour.closed && i + 1 < contour.points.size(); ++i) {
    TestContour one = contour;
    one.points.pop_back();
    std::ranges::rotate(one.points, one.points.begin() + static_cast<std::ptrdiff_t>(i));
    one.points.push_back(one.points.front());
    ways.push_back(one);
  }
  return ways;
}

/// Of all ways to draw all contours that are left, the one that begins nearest to the pen.
std::vector<TestContour> drawn(const std::vector<TestContour>& contours, int classes) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<TestContour> made;
  for (int k = 0; k < classes; ++k) {
    std::vector<TestContour> left;
    for (const TestContour& one : contours)
      if (one.class_index == k) left.push_back(one);
    Place pen{std::nan(""), 0};
    for (bool is_first = true; !left.empty(); is_first = false) {
      std::size_t nearest = 0;
      TestContour next = left[0];
      double least = kFar;
      for (std::size_t i = 0; i < left.size() && !is_first; ++i)
        for (const TestContour& way : ways_of(left[i]))
          if (!way.points.empty() && squared(pen, way.points.front()) < least)
            least = squared(pen, way.points.front()), nearest = i, next = way;
      if (!next.points.empty()) pen = next.points.back();
      made.push_back(next);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(nearest));
    }
  }
  return made;
}

long long units_between(const std::vector<TestContour>& contours) {
  long long units = 0;
  for (std::size_t i = 1; i < contours.size(); ++i)
    if (contours[i].class_index == contours[i - 1].class_index)
      units += std::llround(std::sqrt(squared(contours[i - 1].points.back(), contours[i].points.front())) *
                            (1 << 20));
  return units;
}

/// Every part of the order is turned round, and what that gives is measured as a whole.
std::vector<TestContour> shortened(std::vector<TestContour> path, int passes) {
  for (bool improves = true; passes > 0 && improves; --passes) {
    improves = false;
    for (std::size_t first = 1; first < path.size(); ++first) {
      std::vector<TestContour> best = path;
      for (std::size_t last = first; last < path.size(); ++last) {
        if (path[first - 1].class_index != path[last].class_index) break;
        std::vector<TestContour> turned = path;
        std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(first),
                     turned.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        for (std::size_t i = first; i <= last; ++i)
          if (!turned[i].closed) std::ranges::reverse(turned[i].points);
        if (units_between(turned) < units_between(best)) best = turned;
      }
      improves = improves || units_between(best) < units_between(path);
      path = best;
    }
  }
  return path;
}

/// Returns the lengths of the ways by greedy, endpoint and 2opt.
std::array<double, 3> check_drawn(const std::vector<TestContour>& contours, int classes) {
  const TestContours in(256, 256, classes, contours), ends(256, 256, classes, drawn(contours, classes));
  StageHarness greedy(order_nearest_stage(), {}),
      endpoint(order_nearest_stage(), {{"order", std::string("endpoint")}}),
      two_opt(order_nearest_stage(), {{"order", std::string("2opt")}});
  std::array<double, 3> ways{};
  std::size_t i = 0;
  for (StageHarness* stage : {&greedy, &endpoint, &two_opt}) {
    stage->run({in.view});
    stage->rerun();
    ways[i++] = pen_up_length(std::get<ContoursView>(stage->value()));
  }
  CHECK(same_contours(std::get<ContoursView>(endpoint.value()), ends.view));
  CHECK(ways[2] <= ways[1]);
  return ways;
}

}  // namespace

TEST_CASE("each contour is followed by the nearest one that is left, and of several by the first") {
  for (const std::uint64_t seed : {1, 2, 3}) check_greedy(exact_contours(seed, 4, 60), 4);
  check_greedy(exact_contours(4, 1, 300), 1);
}

TEST_CASE("contours of one point on a grid have many equal distances") {
  Random random(5);
  std::vector<TestContour> contours;
  for (int i = 0; i < 500; ++i) contours.push_back({0, false, {{random.below(15), random.below(15)}}});
  check_greedy(contours, 1);
  check_greedy({contours.begin(), contours.begin() + 1}, 1);
  check_greedy({contours.begin(), contours.begin() + 2}, 1);
  check_greedy({}, 2);
  check_greedy(std::vector<TestContour>(40, contours[0]), 1);
}

TEST_CASE("where all near contours have their place, the next one may be far away") {
  Random random(8);
  std::vector<TestContour> contours;
  for (int i = 0; i < 400; ++i)
    contours.push_back({i % 2, false, {{random.below(40) / 4.0 + 500 * (i % 5), random.below(40) / 4.0}}});
  std::ranges::stable_sort(contours, {}, &TestContour::class_index);
  check_greedy(contours, 2);
}

TEST_CASE("thousands of contours of one point are ordered, and contours with points in common") {
  Random random(9);
  std::vector<TestContour> contours;
  for (int i = 0; i < 5000; ++i) contours.push_back({0, false, {{random.below(400), random.below(300)}}});
  check_greedy(contours, 1);
  contours.resize(600);
  for (std::size_t i = 0; i < contours.size(); ++i)
    for (int k = 1; k < 6; ++k)
      contours[i].points.push_back(contours[(i + 90 * static_cast<std::size_t>(k)) % 600].points[0]);
  check_greedy(contours, 1);
}

TEST_CASE("long contours and such far outside the map are ordered by their nearest points") {
  Random random(6);
  std::vector<TestContour> contours;
  for (int i = 0; i < 40; ++i) {
    TestContour one{0, i % 2 == 0, {}};
    const double scale = i % 5 == 0 ? 1e6 : 200, x = (random.unit() - 0.5) * scale,
                 y = (random.unit() - 0.5) * scale;
    for (int p = 0; p < 1 + random.below(120); ++p)
      one.points.emplace_back(x + p * 0.75, y + random.unit() * 9);
    if (one.closed) one.points.push_back(one.points.front());
    contours.push_back(one);
  }
  check_greedy(contours, 1);
}

TEST_CASE("contours that no distance leads to follow in their order") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::infinity();
  check_greedy({{0, false, {{1, 1}}},
                {0, false, {{nan, 2}}},
                {0, false, {{9, 9}, {nan, nan}}},
                {0, false, {{far, 3}}},
                {0, false, {{2, 1}}},
                {0, false, {{nan, nan}}}},
               1);
  check_greedy({{0, false, {{nan, 1}}}, {0, false, {{5, 5}}}, {0, false, {{1, 1}}}, {0, false, {{4, 4}}}}, 1);
}

TEST_CASE("by endpoint the pen goes to the nearest end, or to any point of a closed contour") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    check_drawn(exact_contours(seed, 4, 40), 4);
    const auto ways = check_drawn(drawn_contours(seed, 3, 60, 120), 3);
    CHECK(ways[1] < ways[0]);
    CHECK(ways[2] < ways[1]);
    check_drawn(drawn_contours(seed, 2, 120, 6), 2);
  }
  check_drawn(without_numbers(drawn_contours(5, 2, 40, 30)), 2);
  check_drawn({}, 2);
}

TEST_CASE("an open contour is turned round, a closed one begins elsewhere, and attributes go with them") {
  const std::vector<TestContour> given{{0, false, {{0, 0}, {5, 0}}},
                                       {0, true, {{20, 0}, {20, 9}, {12, 9}, {12, 0}, {20, 0}}},
                                       {0, false, {{30, 0}, {9, 0}}}},
      wanted{
          given[0], {0, false, {{9, 0}, {30, 0}}}, {0, true, {{20, 0}, {20, 9}, {12, 9}, {12, 0}, {20, 0}}}},
      best{given[0], {0, true, {{12, 0}, {20, 0}, {20, 9}, {12, 9}, {12, 0}}}, {0, false, {{9, 0}, {30, 0}}}};
  const Attributes one{Attribute::Area};
  const TestContours in(64, 64, 1, given, {}, one);
  StageHarness stage(order_nearest_stage(), {{"order", std::string("endpoint")}});
  stage.run({in.view});
  const auto& out = std::get<ContoursView>(stage.value());
  ContoursView plain = out;
  plain.format.attributes = {};
  CHECK(same_contours(plain, TestContours(64, 64, 1, wanted).view));
  for (const auto& [place, source] : {std::pair{0U, 0U}, {1U, 2U}, {2U, 1U}})
    CHECK(out.column(Attribute::Area)[place] == TestContours::attribute_of(Attribute::Area, source));
  CHECK(pen_up_length(out) == 4 + 10);
  CHECK(pen_up_length(TestContours(64, 64, 1, best).view) == 7 + 3);
  CHECK(pen_up_length(TestContours(64, 64, 2, {}).view) == 0);
}

TEST_CASE("2opt turns parts of the order round while that makes the ways shorter") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const std::vector<TestContour> contours =
        seed == 5 ? drawn_points(seed, 40, 7) : drawn_contours(seed, 2, 30, seed < 4 ? 120 : 9);
    const TestContours in(256, 256, 2, contours);
    const std::vector<TestContour> begun = drawn(contours, 2);
    for (const int passes : {1, 2, 100}) {
      const std::vector<TestContour> wanted = shortened(begun, passes);
      StageHarness stage(order_nearest_stage(),
                         {{"order", std::string("2opt")}, {"passes", std::int64_t{passes}}});
      stage.run({in.view});
      const auto& out = std::get<ContoursView>(stage.value());
      CHECK(same_contours(out, TestContours(256, 256, 2, wanted).view));
      CHECK(pen_up_length(out) * (1 << 20) == static_cast<double>(units_between(wanted)));
    }
  }
}

TEST_CASE("ways that cannot be told do not count, and 2opt leaves them") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const TestContours in(64, 64, 2,
                        {{0, false, {{0, 0}}},
                         {0, false, {}},
                         {0, false, {{3, 4}, {nan, 4}}},
                         {0, false, {{3, 4}, {inf, 4}}},
                         {0, false, {{1, 1}}},
                         {0, false, {{1e20, 1}}},
                         {1, false, {{50, 50}}}});
  CHECK(pen_up_length(in.view) == 5);
  for (const std::uint64_t seed : {7, 8, 9}) {
    const auto contours = without_numbers(drawn_contours(seed, 2, 50, 20));
    const auto ways = check_drawn(contours, 2);
    CHECK(ways[2] < ways[1]);
  }
}

TEST_CASE("contours that lie in each other's boxes are ordered by their points") {
  for (const SlowContours& family : slow_contours_of_many()) {
    INFO(family.name);
    check_greedy(family.make(2500), 1);
  }
}

TEST_CASE("2opt is refused on CUDA with a sentence that says what to take") {
  if (!order_nearest_stage().make_cuda) return;  // a build without CUDA refuses the backend
  ParamSet params(order_nearest_stage().params);
  params.set("order", std::string("2opt"));
  CHECK_THROWS_WITH_AS(make_stage(order_nearest_stage(), Backend::Cuda, params),
                       "the stage 'order_nearest' has no CUDA implementation of order: 2opt; take greedy or "
                       "endpoint, or backend: cpu",
                       Error);
}

TEST_CASE("2opt takes 16,384 contours of a class, and refuses more with a sentence") {
  for (const int count : {16384, 16385}) {
    // They lie in their order already: one pass finds nothing.
    std::vector<TestContour> contours;
    for (int i = 0; i < count; ++i) contours.push_back({0, false, {{i / 2.0, 1}}});
    const TestContours in(16384, 4, 1, contours);
    StageHarness stage(order_nearest_stage(), {{"order", std::string("2opt")}, {"passes", std::int64_t{1}}});
    if (count == 16384) {
      stage.run({in.view});
      CHECK(same_contours(std::get<ContoursView>(stage.value()), in.view));
    } else {
      CHECK_THROWS_WITH_AS(stage.run({in.view}),
                           "order_nearest: a class has more than 16384 contours, allowed up to 16384 with "
                           "order: 2opt, which tries all parts of their order; leave some out before "
                           "(drop_small, largest_first), or take order: endpoint",
                           Error);
    }
  }
}
