// Attributes stay with their contours in every step, on the CPU, and on the device where there is one (the
// harness compares).
#include "pipeline/value/attributes.h"

#include <doctest/doctest.h>

#include "stages/contour_prep/stage.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr Attributes kGiven{Attribute::Number, Attribute::Depth, Attribute::Area, Attribute::Convexity};

/// What a step makes of contours; the harness keeps it.
const ContoursView& run(const StageType& step, StageHarness& stage, const TestContours& contours) {
  const TestImage maps(
      {.width = 64, .height = 64, .channels = 3, .type = ElementType::F32, .layout = Layout::Planar});
  stage.run(step.inputs.size() == 1 ? std::vector<Value>{contours.view}
                                    : std::vector<Value>{contours.view, maps.view});
  return std::get<ContoursView>(stage.value());
}

}  // namespace

TEST_CASE("every step leaves contours the attributes that it does not give itself") {
  // No two contours have a point in common, so that a point says where it comes from.
  std::vector<TestContour> contours = exact_contours(61, 3, 30);
  for (std::size_t i = 0; i < contours.size(); ++i)
    for (auto& [x, y] : contours[i].points) x += 1000.0 * static_cast<double>(i);
  const TestContours in(64, 64, 3, contours, {}, kGiven), without(64, 64, 3, contours);
  for (const StageType* const step : contour_steps()) {
    INFO(step->name);
    StageHarness plain(*step, {}), stage(*step, {});
    const Attributes gives = run(*step, plain, without).format.attributes;
    const ContoursView& out = run(*step, stage, in);
    REQUIRE(out.format.attributes == kGiven.with(gives));
    REQUIRE(out.counts->contours > 0);
    std::size_t checked = 0;
    for (std::uint32_t i = 0; i < out.counts->contours; ++i) {
      if (out.contour(i).empty()) continue;
      const auto source = static_cast<std::uint32_t>(std::floor(out.contour(i)[0].col / 1000 + 0.5));
      kGiven.for_each([&](Attribute one) {
        if (gives.has(one)) return;
        ++checked;
        CHECK(out.column(one)[i] == TestContours::attribute_of(one, source));
      });
    }
    CHECK(checked > out.counts->contours);
  }
}
