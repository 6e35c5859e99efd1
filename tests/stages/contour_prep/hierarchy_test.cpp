// hierarchy on the CPU, and on the device where there is one (the harness compares), against all pairs of
// contours.
#include "stages/contour_prep/hierarchy/stage.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "geometry/inside_blocks.h"
#include "geometry/nesting.h"
#include "tests/stages/contour_prep/nested_contours.h"
#include "tests/stages/contour_prep/slow_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

void check_hierarchy(const ContoursView& made, const std::vector<TestContour>& contours) {
  for (std::uint32_t i = 0; i < contours.size(); ++i) {
    INFO("contour ", i);
    int depth = 0;
    double parent = -1;
    for (std::uint32_t other = 0; other < contours.size(); ++other) {
      if (other == i || !lies_in(contours[i], contours[other])) continue;
      ++depth;
      if (parent < 0 || enclosed(contours[other]) < enclosed(contours[static_cast<std::size_t>(parent)]))
        parent = other;
    }
    CHECK(made.column(Attribute::Number)[i] == i);
    CHECK(made.column(Attribute::Depth)[i] == depth);
    CHECK(made.column(Attribute::Parent)[i] == parent);
  }
}

}  // namespace

TEST_CASE("hierarchy finds what all pairs of contours say") {
  const std::vector<TestContour> contours = nested_contours(71);
  const TestContours in(512, 512, 3, contours);
  for (const int threads : {1, 3}) {
    StageHarness stage(hierarchy_stage(), {});
    stage.threads(threads).run({in.view});
    const auto& made = std::get<ContoursView>(stage.value());
    check_hierarchy(made, contours);
    CHECK(made.column(Attribute::Depth)[63] == 64);  // the smallest of 64, in one around all
  }
}

TEST_CASE(
    "hierarchy: the areas of contours with their signs add up to that of the outer ones without holes") {
  std::vector<TestContour> contours;
  add_nested(contours, 0, 100, 100, 9);
  const TestContours in(256, 256, 1, contours);
  StageHarness stage(hierarchy_stage(), {});
  stage.run({in.view});
  const auto& made = std::get<ContoursView>(stage.value());
  long double by_depth = 0;
  for (std::uint32_t i = 0; i < contours.size(); ++i)
    by_depth +=
        (static_cast<int>(made.column(Attribute::Depth)[i]) % 2 == 0 ? 1 : -1) * enclosed(contours[i]);
  CHECK(by_depth == 4 * (81 - 64 + 49 - 36 + 25 - 16 + 9 - 4 + 1));
}

TEST_CASE("hierarchy takes many contours of one point") {
  const std::vector<TestContour> contours(100000, TestContour{0, true, {{5, 5}}});
  const TestContours in(64, 64, 1, contours);
  StageHarness stage(hierarchy_stage(), {});
  stage.run({in.view});
  const auto& made = std::get<ContoursView>(stage.value());
  CHECK(std::all_of(made.column(Attribute::Parent), made.column(Attribute::Parent) + contours.size(),
                    [](double parent) { return parent == -1; }));
  CHECK(made.column(Attribute::Number)[99999] == 99999);
}

TEST_CASE("hierarchy finds what all pairs say of contours that lie in each other's boxes") {
  for (const SlowContours& family : slow_contours_of_many()) {
    INFO(family.name);
    // Areas that are not told apart; lines that cross themselves, around which angles go several times.
    if (family.name == "squares at huge coordinates" || family.name == "spirals in each other") continue;
    const std::vector<TestContour> contours = family.make(600);
    const TestContours in(512, 512, 1, contours);
    StageHarness stage(hierarchy_stage(), {});
    stage.run({in.view});
    check_hierarchy(std::get<ContoursView>(stage.value()), contours);
  }
}

TEST_CASE("a place is inside of a contour of many points as all of its segments say") {
  Random random(5);
  for (const SlowContours& family : slow_contours_of_one())
    for (const bool has_gaps : {false, true}) {
      std::vector<Point> points;
      const TestContour contour = family.make(1500)[0];
      for (const auto& [x, y] : contour.points)
        points.push_back({static_cast<float>(y), static_cast<float>(x)});
      if (has_gaps)
        for (int i = 0; i < 5; ++i)
          points[static_cast<std::size_t>(random.below(1400))].row =
              i % 2 == 0 ? NAN : std::numeric_limits<float>::infinity();
      std::vector<Box> boxes(PointBlocks::boxes_for(points.size()));
      PointBlocks blocks(points.data(), static_cast<std::uint32_t>(points.size()), boxes.data());
      blocks.build();
      int inside = 0;
      for (int i = 0; i < 3000; ++i) {
        // Beside a point, on one, and in the middle of a segment.
        const std::size_t at = static_cast<std::size_t>(random.below(1400));
        contorno::Place place = nesting::place_of(points.data() + at, i % 3 == 0 ? 1 : 2);
        if (i % 2 == 0) place.row += random.below(100) / 10.0 - 5, place.col += random.below(100) / 10.0 - 5;
        const bool wanted = is_inside(place, points);
        if (nesting::is_inside(place, points.data(), blocks) != wanted)
          FAIL_CHECK(family.name, ": ", place.row, " ", place.col);
        inside += wanted ? 1 : 0;
      }
      if (family.name == "a comb") CHECK(inside > 300);
    }
}

TEST_CASE("what lies in the boxes of 4,096 larger contours is tried, and of more refused with a sentence") {
  for (const int around : {4096, 4097}) {
    std::vector<TestContour> contours;
    for (int i = 0; i < around; ++i) contours.push_back({0, true, square_around(100, 100, 50)});
    contours.push_back({0, true, square_around(100, 100, 1)});
    const TestContours in(256, 256, 1, contours);
    StageHarness stage(hierarchy_stage(), {});
    if (around == 4096) {
      stage.run({in.view});
      CHECK(std::get<ContoursView>(stage.value()).column(Attribute::Depth)[4096] == 4096);
    } else {
      CHECK_THROWS_WITH_AS(
          stage.run({in.view}),
          "contours cannot be nested: one lies within the bounding boxes of too many larger "
          "contours of its class, allowed up to 4096; leave some out by the steps drop_small "
          "or largest_first before",
          Error);
    }
  }
}
