// hierarchy on the CPU, and on the device where there is one (the harness compares), against all pairs of
// contours.
#include "stages/contour_prep/hierarchy/stage.h"

#include <doctest/doctest.h>

#include "tests/stages/contour_prep/nested_contours.h"

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
