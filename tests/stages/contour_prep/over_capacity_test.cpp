// Steps that are one text for both backends, for as many contours as there is room for and in another order,
// as on a device, against the CPU, which goes over the contours that there are.
#include <doctest/doctest.h>

#include "stages/contour_prep/close_at_border/stage.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/border_contours.h"
#include "tests/stages/contour_prep/over_capacity.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

const StageType& closing_over_capacity() {
  static const StageType type =
      over_capacity<CloseAtBorder<OverCapacity>, CloseAtBorderParams>(close_at_border_stage());
  return type;
}

/// Whether `type` gives the same contours as `cpu`, also where there is room for more.
void check_same(const StageType& type, const StageType& cpu, const Settings& settings,
                const ContoursView& in) {
  StageHarness wanted(cpu, settings), stage(type, settings);
  wanted.run({in});
  const Roomy roomy(in);
  for (const ContoursView& view : {in, roomy.view}) {
    stage.run({view});
    CHECK(same_contours(std::get<ContoursView>(stage.value()), std::get<ContoursView>(wanted.value())));
  }
}

void check_rings(const ContoursView& in) {
  for (const char* orientation : {"low", "high"})
    check_same(closing_over_capacity(), close_at_border_stage(),
               {{"positive_orientation", std::string(orientation)}}, in);
}

}  // namespace

TEST_CASE("close_at_border makes the same rings in any order and with any room") {
  for (const int per_elsewhere : {0, 3, 20})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      INFO("seed ", seed, ", one of ", per_elsewhere, " elsewhere");
      const int side = 2 + static_cast<int>(seed);
      const TestContours in(side, 7, 4, border_contours(seed, 4, 5 * side, side, 7, per_elsewhere), {},
                            Attributes{Attribute::Area, Attribute::Depth});
      check_rings(in.view);
    }
  check_rings(TestContours(1, 1, 2, border_contours(3, 2, 9, 1, 1, 3)).view);
  check_rings(TestContours(8, 6, 2, {}).view);
}

TEST_CASE("close_at_border passes on how much room contours need that did not fit") {
  TestContours in(9, 7, 2, border_contours(3, 2, 9, 9, 7, 0));
  in.view.counts->points = in.format.point_capacity + 1;
  for (const StageType* one : {&close_at_border_stage(), &closing_over_capacity()}) {
    StageHarness stage(*one, {});
    stage.run({in.view});
    const auto& out = std::get<ContoursView>(stage.value());
    CHECK(out.counts->points == out.format.point_capacity + 1);
    CHECK(out.class_begin[2] == 0);
  }
}

TEST_CASE("largest_first gives the same order in any order and with any room") {
  static const StageType type =
      over_capacity<LargestFirst<OverCapacity>, LargestFirstParams>(largest_first_stage());
  const TestContours exact(64, 64, 5, exact_contours(5, 5, 40));
  std::vector<TestContour> sizeless;  // the last key of all is one of theirs, and that of what is unused
  for (const int k : {0, 500, kMostSizedClasses - 1})
    for (int i = 0; i < 3; ++i) sizeless.push_back({k, false, {{i, 1}, {i, 2}}});
  const TestContours flat(8, 8, kMostSizedClasses, sizeless);
  for (const char* by : {"points", "length", "area"})
    for (const std::int64_t limit : {0, 1, 7})
      for (const TestContours* in : {&exact, &flat})
        check_same(type, largest_first_stage(), {{"by", std::string(by)}, {"limit", limit}}, in->view);
}
