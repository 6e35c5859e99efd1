// resample on the CPU, and on the device where there is one (the harness compares), against interpolation
// over the running length in long double.
#include "stages/contour_prep/resample/stage.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

using Points = std::vector<std::pair<double, double>>;

Settings by_spacing(double spacing) {
  return {{"spacing", spacing}};
}
Settings by_points(int points) {
  return {{"points", std::int64_t{points}}};
}

/// What numpy.interp gives for x and y over the running length, at steps + 1 equal distances.
Points interpolated(const Points& points, std::size_t steps) {
  std::vector<long double> length{0};
  for (std::size_t i = 1; i < points.size(); ++i)
    length.push_back(length.back() +
                     std::hypot(static_cast<long double>(points[i].first - points[i - 1].first),
                                points[i].second - points[i - 1].second));
  Points sampled;
  for (std::size_t k = 0; k <= steps; ++k) {
    const long double at = k == steps ? length.back() : length.back() * k / steps;
    std::size_t i = 0;
    while (i + 2 < points.size() && length[i + 1] <= at) ++i;
    if (points.size() < 2 || length[i + 1] == length[i]) {
      sampled.push_back(points[points.size() < 2 ? 0 : i]);
      continue;
    }
    const long double along = (at - length[i]) / (length[i + 1] - length[i]);
    sampled.emplace_back(points[i].first + along * (points[i + 1].first - points[i].first),
                         points[i].second + along * (points[i + 1].second - points[i].second));
  }
  return sampled;
}

std::size_t wanted_steps(const TestContour& contour, double spacing, int points) {
  const auto own = static_cast<std::size_t>(points);
  if (points > 0) return contour.closed ? std::max<std::size_t>(own, 3) : std::max<std::size_t>(own, 2) - 1;
  const auto steps = static_cast<std::size_t>(
      std::floor(static_cast<double>(reference_size(contour, ContourSize::Length)) / spacing + 0.5));
  return std::max<std::size_t>(steps, contour.closed ? 3 : contour.points.size() > 1 ? 1 : 0);
}

void check_against_reference(const std::vector<TestContour>& contours, const ContoursView& out,
                             double spacing, int points) {
  REQUIRE(out.counts->contours == contours.size());
  double farthest = 0;
  std::size_t other_sizes = 0;
  for (std::uint32_t i = 0; i < contours.size(); ++i) {
    const Points wanted = interpolated(contours[i].points, wanted_steps(contours[i], spacing, points));
    const auto got = out.contour(i);
    CHECK((out.closed[i] != 0) == contours[i].closed);
    if (got.size() != wanted.size()) {
      ++other_sizes;
      continue;
    }
    for (std::size_t k = 0; k < got.size(); ++k)
      farthest = std::max(
          {farthest, std::fabs(got[k].col - wanted[k].first), std::fabs(got[k].row - wanted[k].second)});
  }
  CHECK(other_sizes == 0);
  CHECK(farthest < 2e-5);  // float32 of some 100 px
}

/// Runs resample on contours of one class.
class Resampled {
 public:
  Resampled(const std::vector<TestContour>& contours, const Settings& settings)
      : in_(64, 64, 1, contours), stage_(resample_stage(), settings) {
    stage_.run({in_.view});
  }
  const ContoursView& view() const { return std::get<ContoursView>(stage_.value()); }

 private:
  TestContours in_;
  StageHarness stage_;
};

}  // namespace

TEST_CASE("resample puts points where interpolation over the running length puts them") {
  const std::vector<TestContour> contours = exact_contours(41, 4, 40);
  const TestContours in(512, 512, 4, contours);
  for (const int threads : {1, 3}) {
    for (const double spacing : {0.11, 0.75, 2.0, 1e9}) {
      INFO("spacing ", spacing, ", threads ", threads);
      StageHarness stage(resample_stage(), by_spacing(spacing));
      stage.threads(threads).run({in.view});
      check_against_reference(contours, std::get<ContoursView>(stage.value()), spacing, 0);
    }
    for (const int points : {1, 4, 33, 700}) {
      INFO("points ", points, ", threads ", threads);
      StageHarness stage(resample_stage(), by_points(points));
      stage.threads(threads).run({in.view});
      check_against_reference(contours, std::get<ContoursView>(stage.value()), 0, points);
    }
  }
}

TEST_CASE("whole steps fit, ends stay, and a closed contour ends where it begins") {
  const TestContour line{0, false, {{0, 0}, {10, 0}}},
      square{0, true, {{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}}};
  const Resampled result({line, square}, by_spacing(3));
  // 10 px are three steps, 16 px are five.
  const TestContours wanted(64, 64, 1,
                            {{0, false, {{0, 0}, {10.0 / 3, 0}, {20.0 / 3, 0}, {10, 0}}},
                             {0, true, {{0, 0}, {3.2, 0}, {4, 2.4}, {2.4, 4}, {0, 3.2}, {0, 0}}}});
  check_against_reference({line, square}, result.view(), 3, 0);
  REQUIRE(result.view().counts->points == wanted.view.counts->points);
  for (std::size_t i = 0; i < wanted.view.counts->points; ++i) {
    CHECK(result.view().points[i].row == doctest::Approx(wanted.view.points[i].row));
    CHECK(result.view().points[i].col == doctest::Approx(wanted.view.points[i].col));
  }
}

TEST_CASE("contours without length get their points too, all in the same place") {
  const TestContour dot{0, false, {{5, 6}}}, equal{0, false, {{5, 6}, {5, 6}, {5, 6}}},
      ring{0, true, {{5, 6}, {5, 6}, {5, 6}, {5, 6}}};
  const auto sizes = [&](const Settings& settings) {
    const Resampled result({dot, equal, ring}, settings);
    std::vector<std::size_t> sizes;
    for (std::uint32_t i = 0; i < 3; ++i) {
      sizes.push_back(result.view().contour(i).size());
      for (const Point& p : result.view().contour(i)) CHECK(p == Point{6, 5});
    }
    return sizes;
  };
  CHECK(sizes(by_spacing(1)) == std::vector<std::size_t>{1, 2, 4});
  CHECK(sizes(by_points(7)) == std::vector<std::size_t>{7, 7, 8});
  CHECK(Resampled({}, by_points(7)).view().counts->contours == 0);
}

TEST_CASE("a frame that gets more points than there is room for is run again with more") {
  const std::vector<TestContour> contours = exact_contours(42, 3, 20);
  const TestContours in(512, 512, 3, contours);
  StageHarness roomy(resample_stage(), by_spacing(0.01)), small(resample_stage(), by_spacing(0.01));
  roomy.run({in.view});
  small.first_capacity(5).run({in.view});
  CHECK(roomy.regrown() == 1);  // more than four times the points of the input
  CHECK(small.regrown() == 1);
  CHECK(same_contours(std::get<ContoursView>(roomy.value()), std::get<ContoursView>(small.value())));
  check_against_reference(contours, std::get<ContoursView>(small.value()), 0.01, 0);
}

TEST_CASE("segments to points that are no numbers have no length, and no point lies on them") {
  const double nan = std::nan("");
  const Resampled result({{0, false, {{0, 0}, {2, 0}, {nan, 1}, {4, 0}, {6, 0}}}}, by_points(5));
  const TestContours wanted(64, 64, 1, {{0, false, {{0, 0}, {1, 0}, {4, 0}, {5, 0}, {6, 0}}}});
  CHECK(same_contours(result.view(), wanted.view));
}

TEST_CASE(
    "resample takes contours far away, points at the ends of float32, and 100,000 contours of a point") {
  const TestContour far{0, false, {{100000, 70000}, {100003, 70004}}};
  const TestContours middle(64, 64, 1, {{0, false, {{100000, 70000}, {100001.5, 70002}, {100003, 70004}}}});
  CHECK(same_contours(Resampled({far}, by_points(3)).view(), middle.view));
  const double most = std::numeric_limits<float>::max();
  // Segments of 10^12 px and more have no length.
  const Resampled huge({{0, false, {{-most, 0}, {most, 0}, {most, 8}}}}, by_points(3));
  CHECK(huge.view().contour(0).size() == 3);
  std::vector<TestContour> dots;
  for (int i = 0; i < 100000; ++i) dots.push_back({0, false, {{i % 317, i / 317}}});
  CHECK(same_contours(Resampled(dots, by_spacing(1)).view(), TestContours(64, 64, 1, dots).view));
}

TEST_CASE("more points than offsets can say make a frame fail with their number") {
  const std::vector<TestContour> dots(66000, {0, false, {{1, 2}}});
  CHECK_THROWS_WITH_AS(
      Resampled(dots, by_points(65536)),
      "resample: the contours of the frame would have 4325376000 points, allowed up to 4294967295", Error);
}

TEST_CASE("resample refuses to be told nothing, and what is out of range") {
  CHECK_THROWS_WITH_AS(Resampled({}, by_spacing(0)),
                       "spacing and points are both 0, allowed a spacing above 0 px or a number of points",
                       Error);
  std::string refused;
  ParamSet params(resample_stage().params);
  params.set("spacing", 0.0);
  params.try_out({"", [&](std::string_view name, ExitCode, const std::string&) { refused = name; }});
  CHECK(refused == "spacing");
  CHECK_THROWS_WITH_AS(params.set("points", std::int64_t{70000}),
                       "points is 70000, allowed a whole number, 0 to 65536", Error);
}
