// measure on the CPU, and on the device where there is one (the harness compares), against shapes whose
// measures are known, and that attributes stay with their contours in later steps.
#include "stages/contour_prep/measure/stage.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "geometry/angle.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr double kPi = std::numbers::pi;

/// Contours with their measures.
class Measured {
 public:
  explicit Measured(const std::vector<TestContour>& contours)
      : in_(512, 512, 1, contours), stage_(measure_stage(), {}) {
    stage_.run({in_.view});
  }
  double operator()(Attribute attribute, std::uint32_t contour = 0) const {
    return std::get<ContoursView>(stage_.value()).column(attribute)[contour];
  }

 private:
  TestContours in_;
  StageHarness stage_;
};

/// An ellipse of `points` points around (250, 200), its longer half-axis `angle` from the rows' axis.
TestContour ellipse(double major, double minor, double angle, int points) {
  TestContour contour{0, true, {}};
  for (int i = 0; i <= points; ++i) {
    const double t = 2 * kPi * (i % points) / points;
    const double along = major * std::cos(t), across = minor * std::sin(t);
    contour.points.emplace_back(200 + along * std::sin(angle) + across * std::cos(angle),
                                250 + along * std::cos(angle) - across * std::sin(angle));
  }
  return contour;
}

}  // namespace

TEST_CASE("measure: a rectangle has its area, perimeter, box, centroid and axes") {
  const Measured of({{0, true, {{10, 20}, {16, 20}, {16, 24}, {10, 24}, {10, 20}}}});
  CHECK(of(Attribute::Area) == 24);
  CHECK(of(Attribute::Perimeter) == 20);
  CHECK(of(Attribute::MinCol) == 10);
  CHECK(of(Attribute::MaxCol) == 16);
  CHECK(of(Attribute::MinRow) == 20);
  CHECK(of(Attribute::MaxRow) == 24);
  CHECK(of(Attribute::CentroidCol) == doctest::Approx(13));
  CHECK(of(Attribute::CentroidRow) == doctest::Approx(22));
  CHECK(of(Attribute::MajorAxis) == doctest::Approx(4 * std::sqrt(6 * 6 / 12.0)));
  CHECK(of(Attribute::MinorAxis) == doctest::Approx(4 * std::sqrt(4 * 4 / 12.0)));
  CHECK(std::abs(of(Attribute::Orientation)) == doctest::Approx(kPi / 2));  // along the columns' axis
  CHECK(of(Attribute::Circularity) == doctest::Approx(4 * kPi * 24 / 400));
  CHECK(of(Attribute::Convexity) == 1);
}

TEST_CASE("measure: an ellipse has its axes and its orientation, whichever way round") {
  for (const double angle : {-1.2, -0.4, 0.0, 0.3, 1.0, 1.5}) {
    INFO("angle ", angle);
    TestContour turned = ellipse(60, 25, angle, 720);
    TestContour back = turned;
    std::reverse(back.points.begin(), back.points.end());
    const Measured of({turned, back});
    CHECK(of(Attribute::Area, 0) == -of(Attribute::Area, 1));
    for (const std::uint32_t i : {0U, 1U}) {
      CHECK(std::abs(of(Attribute::Area, i)) == doctest::Approx(kPi * 60 * 25).epsilon(1e-4));
      CHECK(of(Attribute::MajorAxis, i) == doctest::Approx(120).epsilon(1e-4));
      CHECK(of(Attribute::MinorAxis, i) == doctest::Approx(50).epsilon(1e-4));
      CHECK(of(Attribute::Orientation, i) == doctest::Approx(angle).epsilon(1e-5));
      CHECK(of(Attribute::CentroidRow, i) == doctest::Approx(250));
      CHECK(of(Attribute::CentroidCol, i) == doctest::Approx(200));
      CHECK(of(Attribute::Convexity, i) == doctest::Approx(1).epsilon(1e-6));
    }
  }
}

TEST_CASE("measure: a notch makes a contour less convex, and an open contour encloses nothing") {
  const std::vector<std::pair<double, double>> notched{{0, 0}, {8, 0}, {8, 8}, {4, 4}, {0, 8}, {0, 0}};
  const Measured of({{0, true, notched}, {0, false, notched}});
  CHECK(of(Attribute::Area, 0) == 48);
  CHECK(of(Attribute::Convexity, 0) == 0.75);
  CHECK(of(Attribute::Area, 1) == 0);
  CHECK(of(Attribute::Convexity, 1) == 0);
  CHECK(of(Attribute::Circularity, 1) == 0);
  CHECK(of(Attribute::Perimeter, 1) == of(Attribute::Perimeter, 0));
  // Of the line: the mean of the middles of its segments, by their lengths.
  const double slope = std::sqrt(32.0);
  CHECK(of(Attribute::CentroidCol, 1) ==
        doctest::Approx((8 * 4 + 8 * 8 + slope * 6 + slope * 2 + 8 * 0) / (24 + 2 * slope)));
}

TEST_CASE("measure: what a contour does not have is NaN, and a NaN spoils what it is in") {
  const float nan = std::nanf("");
  const Measured of({{0, false, {}},
                     {0, true, {{5, 6}}},
                     {0, true, {{5, 6}, {5, 6}, {5, 6}, {5, 6}}},
                     {0, true, {{0, 0}, {4, 0}, {nan, 2}, {0, 4}, {0, 0}}}});
  CHECK(std::isnan(of(Attribute::MinRow, 0)));
  CHECK(std::isnan(of(Attribute::CentroidRow, 0)));
  CHECK(of(Attribute::Area, 0) == 0);
  for (const std::uint32_t one : {1U, 2U}) {
    CHECK(of(Attribute::CentroidRow, one) == 6);
    CHECK(of(Attribute::CentroidCol, one) == 5);
    CHECK(of(Attribute::MajorAxis, one) == 0);
    CHECK(std::isnan(of(Attribute::Convexity, one)));
    CHECK(std::isnan(of(Attribute::Circularity, one)));
  }
  CHECK(std::isnan(of(Attribute::Area, 3)));
  CHECK(std::isnan(of(Attribute::Convexity, 3)));
  CHECK(of(Attribute::MaxRow, 3) == 4);
  CHECK(of(Attribute::MaxCol, 3) == 4);
}

TEST_CASE("angle_of is the angle of the C library to a few units in the last place") {
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const double y = (random.unit() - 0.5) * std::pow(10, random.below(9) - 4);
    const double x = (random.unit() - 0.5) * std::pow(10, random.below(9) - 4);
    const double wanted = std::atan2(y, x);
    CHECK(std::abs(angle_of(y, x) - wanted) <= 1e-15 * std::abs(wanted));
  }
  CHECK(angle_of(0, 0) == 0);
  CHECK(angle_of(0, -3) == kPi);
  CHECK(angle_of(-2, 0) == -kPi / 2);
}
