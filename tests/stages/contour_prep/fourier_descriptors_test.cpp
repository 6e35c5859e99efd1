// fourier_descriptors on the CPU, and on the device where there is one (the harness compares), against shapes
// whose descriptors are known, against the sums that define them, and what does not change them.
#include "stages/contour_prep/fourier_descriptors/stage.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/stages/contour_prep/fourier_reference.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// -1, 2, -2, 3, -3, 4, -4.
using Descriptors = std::vector<double>;

Descriptors described(const TestContour& contour) {
  const TestContours in(512, 512, 1, {contour});
  StageHarness stage(fourier_descriptors_stage(), {});
  stage.run({in.view});
  const auto& out = std::get<ContoursView>(stage.value());
  Descriptors all;
  kFourierAttributes.for_each([&](Attribute one) { all.push_back(out.column(one)[0]); });
  return all;
}

TestContour shape(int points, double turn, double scale, int first = 0, bool backwards = false) {
  std::vector<std::pair<double, double>> own;
  for (int i = 0; i < points; ++i) {
    const double t = 2 * std::numbers::pi * ((i + first) % points) / points;
    const double radius = scale * (20 + 4 * std::cos(3 * t + 0.4) + 2 * std::sin(2 * t)), angle = t + turn;
    own.emplace_back(200 + radius * std::cos(angle), 220 + radius * std::sin(angle));
  }
  if (backwards) std::ranges::reverse(own);
  own.push_back(own.front());
  return {0, true, own};
}

void check_same(const Descriptors& got, const Descriptors& wanted, double tolerance) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < tolerance);
}

}  // namespace

TEST_CASE("fourier_descriptors: an ellipse has one, by its axes, and a circle none") {
  for (const double minor : {60.0, 20.0, 0.0}) {
    TestContour ellipse{0, true, {}};
    for (int i = 0; i <= 64; ++i) {
      const double t = 2 * std::numbers::pi * (i % 64) / 64;
      ellipse.points.emplace_back(100 + 60 * std::cos(t), 150 + minor * std::sin(t));
    }
    check_same(described(ellipse), {(60 - minor) / (60 + minor), 0, 0, 0, 0, 0, 0}, 1e-6);
  }
}

TEST_CASE("fourier_descriptors: they are quotients of the coefficients") {
  const TestContour contour = shape(75, 0.2, 1);
  std::vector<fourier::Complex> points;
  for (std::size_t j = 0; j + 1 < contour.points.size(); ++j)
    points.push_back(
        {static_cast<float>(contour.points[j].first), static_cast<float>(contour.points[j].second)});
  Descriptors wanted;
  for (const std::uint64_t k : {74U, 2U, 73U, 3U, 72U, 4U, 71U})
    wanted.push_back(
        static_cast<double>(std::abs(exact_coefficient(points, k)) / std::abs(exact_coefficient(points, 1))));
  check_same(described(contour), wanted, 1e-12);
  CHECK(wanted[3] > 0.01);
}

TEST_CASE(
    "fourier_descriptors: moved, turned, scaled, mirrored, begun elsewhere or backwards they are the same") {
  const Descriptors wanted = described(shape(90, 0, 1));
  check_same(described(shape(90, 1.1, 1)), wanted, 1e-6);
  check_same(described(shape(90, 0, 6)), wanted, 1e-6);
  check_same(described(shape(90, 0, 1, 37)), wanted, 1e-6);
  check_same(described(shape(90, 0, 1, 0, true)), wanted, 1e-6);
  TestContour moved = shape(90, 0, 1), mirrored = moved;
  for (auto& [x, y] : moved.points) x += 64, y -= 32;
  for (auto& [x, y] : mirrored.points) x = 400 - x;
  check_same(described(moved), wanted, 1e-6);
  check_same(described(mirrored), wanted, 1e-6);
}

TEST_CASE("fourier_descriptors: what a contour does not have is NaN") {
  const auto known = [](const TestContour& contour) {
    std::vector<bool> is;
    for (const double one : described(contour)) is.push_back(!std::isnan(one));
    return is;
  };
  const std::vector<bool> none(7, false);
  TestContour open = shape(50, 0, 1), spoiled = open;
  open.closed = false;
  spoiled.points[3].first = std::numeric_limits<float>::quiet_NaN();
  CHECK(known(open) == none);
  CHECK(known(spoiled) == none);
  CHECK(known({0, true, {}}) == none);
  CHECK(known({0, true, {{3, 4}}}) == none);
  CHECK(known({0, true, {{3, 4}, {9, 9}, {3, 4}}}) == none);
  CHECK(known({0, true, {{3, 4}, {3, 4}, {3, 4}, {3, 4}, {3, 4}}}) == none);
  CHECK(known(shape(3, 0, 1)) == std::vector<bool>{true, false, false, false, false, false, false});
  CHECK(known(shape(4, 0, 1)) == std::vector<bool>{true, false, true, false, false, false, false});
  CHECK(known(shape(8, 0, 1)) == std::vector<bool>{true, true, true, true, true, false, true});
  CHECK(known(shape(9, 0, 1)) == std::vector<bool>(7, true));
}
