// simplify on the CPU, and on the device where there is one (the harness compares), against references that
// compute without rounding.
#include "stages/contour_prep/simplify/stage.h"

#include <doctest/doctest.h>

#include <bit>

#include <limits>

#include "base/error.h"
#include "stages/contour_prep/simplify/farthest.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/simplify_reference.h"
#include "tests/stages/contour_prep/slow_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

const char* const kMethods[] = {"douglas_peucker", "visvalingam"};

Settings simplify_settings(const std::string& method, double tolerance, int points) {
  return {{"method", method}, {"tolerance", tolerance}, {"points", std::int64_t{points}}};
}

/// Runs simplify on contours of one class and returns them as the harness has them.
class Simplified {
 public:
  Simplified(const std::vector<TestContour>& contours, const std::string& method, double tolerance,
             int points = 0)
      : in_(64, 64, 1, contours), stage_(simplify_stage(), simplify_settings(method, tolerance, points)) {
    stage_.run({in_.view});
  }
  const ContoursView& view() const { return std::get<ContoursView>(stage_.value()); }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (std::uint32_t i = 0; i < view().counts->contours; ++i) sizes.push_back(view().contour(i).size());
    return sizes;
  }

 private:
  TestContours in_;
  StageHarness stage_;
};

std::vector<TestContour> many_contours() {
  std::vector<TestContour> contours = exact_contours(21, 4, 30);
  for (const int points : {3, 4, 5, 33, 300, 1500}) contours.push_back(waved_ring(3, points, 90, 80, 5));
  return contours;
}

}  // namespace

TEST_CASE("simplify keeps the points that plain implementations keep, by tolerance and by budget") {
  const std::vector<TestContour> contours = many_contours();
  const TestContours in(512, 512, 4, contours);
  for (const char* const method : kMethods)
    for (const double tolerance : {0.0, 0.5, 1.25, 6.0, 1e6})
      for (const int points : {0, 1, 4, 25})
        for (const int threads : {1, 3}) {
          INFO(method, ", tolerance ", tolerance, ", points ", points, ", threads ", threads);
          StageHarness stage(simplify_stage(), simplify_settings(method, tolerance, points));
          stage.threads(threads).run({in.view});
          const TestContours wanted(
              512, 512, 4,
              reference_simplified(contours, method, tolerance, static_cast<std::size_t>(points)));
          CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
        }
}

TEST_CASE("no point is farther from its contour than the tolerance of douglas_peucker") {
  const std::vector<TestContour> contours = many_contours();
  for (const double tolerance : {0.25, 1.0, 3.5}) {
    std::size_t removed = 0;
    for (const TestContour& contour : contours) {
      TestContour one = contour;
      one.class_index = 0;
      const Simplified result({one}, "douglas_peucker", tolerance);
      const auto kept = result.view().contour(0);
      removed += one.points.size() - kept.size();
      const auto quarters = [](const Point& p) {
        return QuarterPoint{std::llround(4 * p.col), std::llround(4 * p.row)};
      };
      // Every point belongs to the segment between the kept points before and behind it.
      std::size_t at = 0;
      for (const auto& [x, y] : one.points) {
        const QuarterPoint p{std::llround(4 * x), std::llround(4 * y)};
        const auto near = [&](std::size_t i) {
          return i + 1 < kept.size() &&
                 squared_distance(p, quarters(kept[i]), quarters(kept[i + 1])) <= 16 * tolerance * tolerance;
        };
        while (kept.size() > 1 && !near(at) && at + 2 < kept.size()) ++at;
        if (kept.size() > 1) CHECK(near(at));
      }
    }
    CHECK(removed > 500);
  }
}

TEST_CASE("simplify keeps both ends of open contours and three points of closed ones") {
  const TestContour line{0, false, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}},
      ring{0, true, {{0, 0}, {9, 0}, {9, 4}, {5, 4}, {0, 4}, {0, 0}}},
      equal{0, true, {{2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}}},
      triangle{0, true, {{0, 0}, {1, 0}, {0, 1}, {0, 0}}}, two{0, false, {{1, 1}, {1, 1}}},
      one{0, false, {{4, 4}}};
  for (const char* const method : kMethods) {
    INFO(method);
    for (const int points : {0, 1}) {
      const Simplified result({line, ring, equal, triangle, two, one}, method, 1e9, points);
      CHECK(result.sizes() == std::vector<std::size_t>{2, 4, 4, 4, 2, 1});
      const auto& view = result.view();
      CHECK(view.contour(0)[1] == Point{0, 3});
      for (const std::uint32_t i : {1U, 2U, 3U}) {
        CHECK(view.closed[i] == 1);
        CHECK(view.contour(i).front() == view.contour(i).back());
      }
    }
  }
  CHECK(Simplified({}, "douglas_peucker", 1).view().counts->contours == 0);
}

TEST_CASE("the anchors of a closed contour are its first point and the farthest from it") {
  // The third point is the farthest from the chord between them.
  const TestContour ring{0, true, {{0, 0}, {5, 1}, {10, 0}, {5, -3}, {2, -1}, {0, 0}}};
  const Simplified result({ring}, "douglas_peucker", 1e9);
  const TestContours wanted(64, 64, 1, {{0, true, {{0, 0}, {10, 0}, {5, -3}, {0, 0}}}});
  CHECK(same_contours(result.view(), wanted.view));
}

TEST_CASE(
    "a point at exactly the tolerance goes, and one beyond the end of its chord is measured to the end") {
  const TestContour line{0, false, {{0, 0}, {4, 1.5}, {8, 0}}}, beyond{0, false, {{0, 0}, {8, 0}, {4, 0}}};
  CHECK(Simplified({line, beyond}, "douglas_peucker", 1.5).sizes() == std::vector<std::size_t>{2, 3});
  CHECK(Simplified({line}, "douglas_peucker", 1.4999).sizes() == std::vector<std::size_t>{3});
  CHECK(Simplified({beyond}, "douglas_peucker", 4).sizes() == std::vector<std::size_t>{2});
  CHECK(Simplified({line}, "visvalingam", 6).sizes() == std::vector<std::size_t>{2});
  CHECK(Simplified({line}, "visvalingam", 5.999).sizes() == std::vector<std::size_t>{3});
}

TEST_CASE("points that are no numbers go, and the others are chosen among themselves") {
  const double nan = std::nan("");
  const TestContour line{0, false, {{0, 0}, {nan, 1}, {4, 3}, {5, nan}, {8, 0}}};
  const TestContours wanted(64, 64, 1, {{0, false, {{0, 0}, {4, 3}, {8, 0}}}});
  for (const char* const method : kMethods) {
    INFO(method);
    CHECK(same_contours(Simplified({line}, method, 0.5).view(), wanted.view));
  }
}

TEST_CASE(
    "simplify takes contours far away, points at the ends of float32, and 100,000 contours of a point") {
  TestContour far;
  for (int i = 0; i < 200; ++i) far.points.emplace_back(100000 + i, 70000 + (i % 4 == 1 ? 2 : 0));
  TestContour straight{0, false, {far.points.front(), far.points.back()}};
  const TestContours wanted(64, 64, 1, {straight});
  for (const char* const method : kMethods)
    CHECK(same_contours(Simplified({far}, method, 8).view(), wanted.view));
  const double most = std::numeric_limits<float>::max();
  const TestContour huge{0, false, {{-most, -most}, {most, -most}, {most, most}, {0, 0}, {1, 1}}};
  CHECK(Simplified({huge}, "douglas_peucker", 100).sizes() == std::vector<std::size_t>{4});
  CHECK(Simplified({huge}, "visvalingam", 100).sizes() == std::vector<std::size_t>{4});
  std::vector<TestContour> dots;
  for (int i = 0; i < 100000; ++i) dots.push_back({0, false, {{i % 317, i / 317}}});
  for (const char* const method : kMethods) {
    const Simplified result(dots, method, 1);
    CHECK(same_contours(result.view(), TestContours(64, 64, 1, dots).view));
  }
}

TEST_CASE("the search for the farthest point gives the same with AVX2 as without") {
  const FarthestBetween plain = farthest_between(Simd::Portable), fast = farthest_between(best_simd());
  Random random(9);
  for (std::uint32_t count = 2; count < 60; ++count)
    for (int round = 0; round < 40; ++round) {
      std::vector<Point> points(count);  // no more, so that nothing else may be read
      // Few places, so that many points are equally far, or many; some points are no numbers.
      const int places = round % 4 == 0 ? 2 : round % 4 == 1 ? 9 : 100000;
      for (Point& p : points) {
        p = {static_cast<float>(random.below(places)) / 7, static_cast<float>(random.below(places)) / 3};
        if (round % 5 == 4 && random.below(4) == 0) p.row = std::nanf("");
      }
      const Chord chord(points.front(), points.back());
      const Farthest wanted = plain(points.data(), 0, count - 1, chord, -1);
      const Farthest all = fast(points.data(), 0, count - 1, chord, -1);
      const Farthest none = fast(points.data(), 0, count - 1, chord, wanted.distance);
      const bool same = all.at == wanted.at && std::bit_cast<std::uint64_t>(all.distance) ==
                                                   std::bit_cast<std::uint64_t>(wanted.distance);
      CHECK(same);
      CHECK(none.distance == wanted.distance);
    }
}

TEST_CASE("simplify refuses negative tolerances and methods that it does not know") {
  const auto refused = [](const char* name, const ParamValue& value) {
    return StageHarness(simplify_stage(), {{name, value}});
  };
  CHECK_THROWS_WITH_AS(refused("tolerance", -1.0), "tolerance is -1, allowed 0 to 1000000000", Error);
  CHECK_THROWS_WITH_AS(refused("method", std::string("reumann")),
                       "method is reumann, allowed one of douglas_peucker, visvalingam", Error);
}

TEST_CASE("contours whose points are split off one by one keep the points that plain recursion keeps") {
  for (const SlowContours& family : slow_contours_of_one()) {
    if (family.name != "a comb" && family.name != "a staircase that widens") continue;  // in quarters of px
    INFO(family.name);
    const std::vector<TestContour> contours = family.make(3000);
    const TestContours in(512, 512, 1, contours);
    for (const int points : {0, 40}) {
      StageHarness stage(simplify_stage(), simplify_settings("douglas_peucker", 0.75, points));
      stage.run({in.view});
      const TestContours wanted(
          512, 512, 1,
          reference_simplified(contours, "douglas_peucker", 0.75, static_cast<std::size_t>(points)));
      CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
    }
  }
}

TEST_CASE("the farthest point is found without the blocks that lie nearer, the first of several") {
  Random random(9);
  for (const SlowContours& family : slow_contours_of_one())
    for (const double scale : {1.0, 0.37, 1e-3})
      for (const bool has_gaps : {false, true}) {
        std::vector<Point> points;
        const TestContour contour = family.make(2000)[0];
        for (const auto& [x, y] : contour.points)
          points.push_back({static_cast<float>(y * scale), static_cast<float>(x * scale)});
        if (has_gaps) points[777].row = NAN, points[1300].col = std::numeric_limits<float>::infinity();
        const auto count = static_cast<std::uint32_t>(points.size());
        std::vector<Box> boxes(PointBlocks::boxes_for(count));
        const FarthestInBlocks blocks(points.data(), count, boxes.data());
        for (int i = 0; i < 300; ++i) {
          const auto begin = static_cast<std::uint32_t>(random.below(static_cast<int>(count) - 3)),
                     end = begin + 2 +
                           static_cast<std::uint32_t>(random.below(static_cast<int>(count - begin) - 2));
          const Chord chord(points[begin], points[end]);
          const Farthest wanted = farthest_of(points.data(), begin, end, chord, begin + 1, 1);
          for (const Simd simd : {Simd::Portable, best_simd()}) {
            const Farthest found = blocks(farthest_between(simd), begin, end, chord);
            if (found.at != wanted.at || !(found.distance == wanted.distance))
              FAIL_CHECK(family.name, " ", scale, ": ", begin, " to ", end, ": ", found.at, " for ",
                         wanted.at);
          }
        }
      }
}
