// The parts of `contorno explain` that its output alone does not reach: a device that is wrong.
#include "tools/explain/cell.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace contorno;
using namespace contorno::explain;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Steps = std::array<PointD, 3>;

/// Two open contours of three and two points.
FoundContours contours_of(const Steps& first) {
  FoundContours found;
  found.points = Buffer<PointD>(5), found.offsets = Buffer<std::uint32_t>(3);
  found.closed = Buffer<std::uint8_t>(2);
  for (std::size_t i = 0; i < 3; ++i) found.points.data()[i] = first[i];
  found.points.data()[3] = {7, 8.5}, found.points.data()[4] = {7.5, 8};
  for (std::size_t i = 0; i < 3; ++i) found.offsets.data()[i] = std::array<std::uint32_t, 3>{0, 3, 5}[i];
  for (std::size_t i = 0; i < 2; ++i) found.closed.data()[i] = 0;
  return found;
}
constexpr Steps kSteps{{{1, 0.5}, {1.5, 1}, {2, kNan}}};

}  // namespace

TEST_CASE("the first difference between two results is named, and there is none between equal ones") {
  const FoundContours cpu = contours_of(kSteps);
  CHECK(first_difference(cpu, contours_of(kSteps)).empty());
  Steps moved = kSteps;
  moved[1].col = std::nextafter(1.0, 2.0);
  CHECK(first_difference(cpu, contours_of(moved)) ==
        "point 1 of contour 0 is (1.5, 1) by the CPU, (1.5, 1.0000000000000002) by the device");
  FoundContours other = contours_of(kSteps);
  other.closed.data()[1] = 1;
  CHECK(first_difference(cpu, other) == "contour 1 is open by the CPU, but not by the device");
  other = contours_of(kSteps);
  other.offsets.data()[1] = 2;
  CHECK(first_difference(cpu, other) == "contour 0 has 3 points by the CPU, 2 by the device");
  CHECK(first_difference(cpu, {}) == "the CPU has 2 contours, the device 0");
}

TEST_CASE("a segment is found in either orientation, also beside an infinity") {
  FoundContours found = contours_of(kSteps);
  const explain::Segment segment{{kLeft, {1.5, 1}, NodeKind::Edge}, {kBottom, {2, kNan}, NodeKind::None}};
  const auto place = place_of(segment, found, Orientation::Low);
  REQUIRE(place.has_value());
  CHECK(place->contour == 0);
  CHECK(place->from == 1);
  CHECK(place->to == 2);
  CHECK_FALSE(place_of(segment, found, Orientation::High).has_value());
  const explain::Segment back{segment.to, segment.from};
  const auto reversed = place_of(back, found, Orientation::High);
  REQUIRE(reversed.has_value());
  CHECK(reversed->from == 2);
  CHECK(reversed->to == 1);
}
