// Attributes stay with their contours in every step, on the CPU, and on the device where there is one (the
// harness compares).
#include "pipeline/value/attributes.h"

#include <doctest/doctest.h>

#include "stages/contour_prep/stage.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr Attributes kGiven{Attribute::Mean, Attribute::Area, Attribute::Maximum};

/// The number of the contour of `in` from which the first point of contour `i` of `out` comes, by attribute.
std::uint32_t source_of(const ContoursView& out, std::uint32_t i) {
  return static_cast<std::uint32_t>(out.column(Attribute::Mean)[i] -
                                    TestContours::attribute_of(Attribute::Mean, 0));
}

}  // namespace

TEST_CASE("every step leaves contours their attributes") {
  // No two contours have a point in common, so that a point says where it comes from.
  std::vector<TestContour> contours = exact_contours(61, 3, 30);
  for (std::size_t i = 0; i < contours.size(); ++i)
    for (auto& [x, y] : contours[i].points) x += 1000.0 * static_cast<double>(i);
  const TestContours in(64, 64, 3, contours, {}, kGiven);
  for (const StageType* const step : contour_steps()) {
    INFO(step->name);
    StageHarness stage(*step, {});
    stage.run({in.view});
    const auto& out = std::get<ContoursView>(stage.value());
    REQUIRE(out.format.attributes.with(kGiven) == out.format.attributes);
    REQUIRE(out.counts->contours > 0);
    for (std::uint32_t i = 0; i < out.counts->contours; ++i) {
      if (out.contour(i).empty()) continue;
      const std::uint32_t source = source_of(out, i);
      REQUIRE(source < contours.size());
      CHECK(out.column(Attribute::Maximum)[i] == TestContours::attribute_of(Attribute::Maximum, source));
      CHECK(std::floor(out.contour(i)[0].col / 1000 + 0.5) == source);
    }
  }
}
