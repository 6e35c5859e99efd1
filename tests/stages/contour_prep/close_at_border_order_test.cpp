// The functions of close_at_border for as many contours as there is room for and in another order, as on a
// device, against those for the contours that there are.
#include <doctest/doctest.h>

#include "stages/contour_prep/close_at_border/step.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/border_contours.h"
#include "tests/stages/contour_prep/over_capacity.h"

using namespace contorno;
using namespace contorno::test;

namespace {

void check_rings(const ContoursView& in) {
  static const StageType type =
      over_capacity<CloseAtBorder<OverCapacity>, CloseAtBorderParams>(close_at_border_stage());
  for (const char* orientation : {"low", "high"}) {
    StageHarness wanted(close_at_border_stage(), {{"positive_orientation", std::string(orientation)}});
    wanted.run({in});
    StageHarness stage(type, {{"positive_orientation", std::string(orientation)}});
    const Roomy roomy(in);
    for (const ContoursView& view : {in, roomy.view}) {
      stage.run({view});
      CHECK(same_contours(std::get<ContoursView>(stage.value()), std::get<ContoursView>(wanted.value())));
    }
  }
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
  static const StageType type =
      over_capacity<CloseAtBorder<OverCapacity>, CloseAtBorderParams>(close_at_border_stage());
  for (const StageType* one : {&close_at_border_stage(), &type}) {
    StageHarness stage(*one, {});
    stage.run({in.view});
    const auto& out = std::get<ContoursView>(stage.value());
    CHECK(out.counts->points == out.format.point_capacity + 1);
    CHECK(out.class_begin[2] == 0);
  }
}
