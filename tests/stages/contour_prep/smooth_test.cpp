// smooth on the CPU, and on the device where there is one (the harness compares), against the sums that
// define Fourier series; of open contours, those of the odd continuation written out.
#include "stages/contour_prep/smooth/stage.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/fourier_reference.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

using fourier::Complex;

Settings keeping(int terms, KeptTerms keep = KeptTerms::Low) {
  return {{"terms", std::int64_t{terms}}, {"keep", std::string(keep == KeptTerms::Low ? "low" : "top")}};
}

/// A contour of `own` points at random around a circle.
TestContour rough(std::uint64_t seed, int own, bool closed) {
  Random random(seed);
  TestContour contour{0, closed, {}};
  for (int i = 0; i < own; ++i) {
    const double angle = 6.283185307179586 * i / own, radius = 20 + 3 * random.unit();
    contour.points.emplace_back(100 + radius * std::cos(angle), 70 + radius * std::sin(angle));
  }
  if (closed) contour.points.push_back(contour.points.front());
  return contour;
}

Complex number_of(const std::pair<double, double>& point) {
  return {static_cast<float>(point.first), static_cast<float>(point.second)};
}

/// All points of a period that are the sum of some terms of `period`.
std::vector<Exact> with_terms(const std::vector<Complex>& period, std::uint64_t terms, KeptTerms keep) {
  const std::size_t count = period.size();
  std::vector<Complex> coefficients(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Exact one = exact_coefficient(period, k);
    coefficients[k] = {static_cast<double>(one.real()), static_cast<double>(one.imag())};
  }
  std::vector<Exact> sum(count);
  for (const std::size_t k : exact_selection(coefficients, terms, keep))
    for (std::size_t j = 0; j < count; ++j)
      sum[j] += Exact(coefficients[k].re, coefficients[k].im) * exact_root(k * j, count);
  return sum;
}

std::vector<Exact> reference(const TestContour& contour, int terms, KeptTerms keep) {
  const auto& p = contour.points;
  std::vector<Complex> period;
  if (contour.closed) {
    for (std::size_t j = 0; j + 1 < p.size(); ++j) period.push_back(number_of(p[j]));
    std::vector<Exact> made = with_terms(period, static_cast<std::uint64_t>(terms), keep);
    made.push_back(made.front());
    return made;
  }
  const std::size_t steps = p.size() - 1;
  const auto line = [&](std::size_t j) {
    const double along = static_cast<double>(j) / static_cast<double>(steps);
    const Complex first = number_of(p.front()), last = number_of(p.back());
    return Complex{first.re + along * (last.re - first.re), first.im + along * (last.im - first.im)};
  };
  for (std::size_t j = 0; j < steps; ++j) period.push_back(number_of(p[j]) - line(j));
  period[0] = {};
  for (std::size_t j = steps; j < 2 * steps; ++j) {
    const std::size_t mirrored = 2 * steps - j;
    period.push_back(mirrored == steps ? Complex{} : Complex{} - period[mirrored]);
  }
  // Whole pairs of sines, and never the centre, which is 0.
  std::vector<Exact> made = with_terms(period, (static_cast<std::uint64_t>(terms) - 1) / 2 * 2 + 1, keep);
  made.resize(steps + 1);
  for (std::size_t j = 0; j <= steps; ++j) made[j] += Exact(line(j).re, line(j).im);
  return made;
}

double distance(const Point& got, const Exact& wanted) {
  return static_cast<double>(std::abs(wanted - Exact(got.col, got.row)));
}

}  // namespace

TEST_CASE("smooth: closed contours are the sum of their terms, as many points, and stay closed") {
  std::vector<TestContour> contours;
  for (const int own : {3, 4, 5, 8, 31, 32, 33, 64, 97, 200})
    contours.push_back(rough(contours.size(), own, true));
  const TestContours in(256, 256, 1, contours);
  for (const KeptTerms keep : {KeptTerms::Low, KeptTerms::Top})
    for (const int terms : {1, 2, 3, 8, 21, 64}) {
      StageHarness stage(smooth_stage(), keeping(terms, keep));
      stage.run({in.view});
      const auto& out = std::get<ContoursView>(stage.value());
      REQUIRE(out.counts->points == in.view.counts->points);
      for (std::uint32_t i = 0; i < contours.size(); ++i) {
        INFO(out.contour(i).size(), " points, ", terms, " terms, ", static_cast<int>(keep));
        CHECK(out.closed[i] == 1);
        CHECK(out.contour(i).front() == out.contour(i).back());
        const std::vector<Exact> wanted = reference(contours[i], terms, keep);
        for (std::size_t j = 0; j < wanted.size(); ++j)
          CHECK(distance(out.contour(i)[j], wanted[j]) < 1.5e-5);
      }
    }
}

TEST_CASE("smooth: open contours keep their ends, and are sums of sines between") {
  std::vector<TestContour> contours;
  for (const int own : {3, 4, 5, 9, 33, 34, 65, 98, 150})
    contours.push_back(rough(contours.size(), own, false));
  const TestContours in(256, 256, 1, contours);
  for (const int terms : {1, 2, 3, 8, 21}) {
    StageHarness stage(smooth_stage(), keeping(terms));
    stage.run({in.view});
    const auto& out = std::get<ContoursView>(stage.value());
    for (std::uint32_t i = 0; i < contours.size(); ++i) {
      INFO(out.contour(i).size(), " points, ", terms, " terms");
      CHECK(out.closed[i] == 0);
      CHECK(out.contour(i).front() == in.view.contour(i).front());
      CHECK(out.contour(i).back() == in.view.contour(i).back());
      const std::vector<Exact> wanted = reference(contours[i], terms, KeptTerms::Low);
      for (std::size_t j = 0; j < wanted.size(); ++j) CHECK(distance(out.contour(i)[j], wanted[j]) < 1.5e-5);
    }
  }
}

TEST_CASE("smooth: of an open contour the largest sines are kept") {
  // Offsets from a line that are two sines, of which the higher one is larger.
  TestContour wave{0, false, {}};
  constexpr int kSteps = 60;
  const auto y = [](int j, double low) {
    const double t = std::numbers::pi * j / kSteps;
    return 40 + 0.5 * j + low * std::sin(2 * t) + 5 * std::sin(9 * t);
  };
  for (int j = 0; j <= kSteps; ++j) wave.points.emplace_back(10 + j, y(j, 2));
  const TestContours in(256, 256, 1, {wave});
  for (const int terms : {2, 3, 4, 5}) {
    StageHarness stage(smooth_stage(), keeping(terms, KeptTerms::Top));
    stage.run({in.view});
    const auto& out = std::get<ContoursView>(stage.value());
    for (int j = 0; j <= kSteps; ++j)
      CHECK(distance(out.contour(0)[static_cast<std::size_t>(j)], Exact(10 + j, y(j, terms < 4 ? 0 : 2))) <
            3e-5);
  }
}

TEST_CASE("smooth: what has no more terms than are kept stays as it is, bit for bit") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  std::vector<TestContour> contours{{0, false, {}},
                                    {0, true, {{5, 6}}},
                                    {0, false, {{5, 6}}},
                                    {0, false, {{5, 6}, {7, 9}}},
                                    {0, true, {{5, 6}, {7, 9}, {5, 6}}},
                                    rough(1, 21, true),
                                    rough(2, 12, false)};
  contours.push_back(rough(3, 60, true));
  contours.back().points[7].first = nan;
  contours.push_back(rough(4, 60, false));
  contours.back().points[9].second = infinite;
  const TestContours in(256, 256, 1, contours);
  for (const KeptTerms keep : {KeptTerms::Low, KeptTerms::Top}) {
    StageHarness stage(smooth_stage(), keeping(23, keep));
    stage.run({in.view});
    CHECK(same_contours(std::get<ContoursView>(stage.value()), in.view));
  }
  // One point more, and it is smoothed.
  const TestContours more(256, 256, 1, {rough(1, 24, true), rough(2, 14, false)});
  StageHarness stage(smooth_stage(), keeping(23));
  stage.run({more.view});
  const auto& out = std::get<ContoursView>(stage.value());
  CHECK(!(out.contour(0)[5] == more.view.contour(0)[5]));
  CHECK(!(out.contour(1)[5] == more.view.contour(1)[5]));
}

TEST_CASE("smooth: twice is as once, and backwards is as forwards") {
  const TestContour closed = rough(11, 180, true), open = rough(12, 181, false);
  std::vector<TestContour> contours{closed, open, closed, open};
  for (const std::size_t back : {2U, 3U}) std::ranges::reverse(contours[back].points);
  const TestContours in(256, 256, 1, contours);
  for (const KeptTerms keep : {KeptTerms::Low, KeptTerms::Top}) {
    StageHarness once(smooth_stage(), keeping(15, keep)), twice(smooth_stage(), keeping(15, keep));
    once.run({in.view});
    twice.run({once.value()});
    const auto &first = std::get<ContoursView>(once.value()), &second = std::get<ContoursView>(twice.value());
    for (std::size_t i = 0; i < first.counts->points; ++i) {
      CHECK(std::abs(first.points[i].row - second.points[i].row) < 3e-5);
      CHECK(std::abs(first.points[i].col - second.points[i].col) < 3e-5);
    }
    for (const std::uint32_t i : {0U, 1U}) {
      const auto forth = first.contour(i), back = first.contour(i + 2);
      for (std::size_t j = 0; j < forth.size(); ++j) {
        CHECK(std::abs(forth[j].row - back[back.size() - 1 - j].row) < 3e-5);
        CHECK(std::abs(forth[j].col - back[back.size() - 1 - j].col) < 3e-5);
      }
    }
  }
}

TEST_CASE("smooth: any number of threads gives the same bits") {
  const TestContours in(64, 64, 4, exact_contours(71, 4, 60));
  StageHarness one(smooth_stage(), keeping(9)), three(smooth_stage(), keeping(9));
  one.threads(1).run({in.view});
  three.threads(3).run({in.view});
  CHECK(same_contours(std::get<ContoursView>(one.value()), std::get<ContoursView>(three.value())));
}

TEST_CASE("smooth: parameters out of range are refused") {
  ParamSet params(smooth_stage().params);
  CHECK_THROWS_AS(params.set("terms", std::int64_t{0}), Error);
  CHECK_THROWS_AS(params.set("keep", std::string("high")), Error);
}
