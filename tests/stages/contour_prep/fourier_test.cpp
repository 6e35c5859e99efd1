// The transform, the roots of unity and the selection of coefficients, against the C library and the sum that
// defines the transform, in long double.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <numeric>

#include "geometry/fourier_series.h"
#include "tests/stages/contour_prep/fourier_reference.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::fourier;
using namespace contorno::test;

namespace {

std::vector<Complex> random_points(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<Complex> points(count);
  for (Complex& one : points) one = {500 * random.unit(), 300 * random.unit()};
  return points;
}

/// The greatest error of some coefficients.
double error_of(const std::vector<Complex>& points, std::size_t every) {
  const std::vector<Complex> got = coefficients_of(points);
  REQUIRE(got.size() == points.size());
  double worst = 0;
  for (std::size_t k = 0; k < points.size(); k += every) {
    const Exact wanted = exact_coefficient(points, k);
    worst = std::max(worst, static_cast<double>(std::abs(wanted - Exact(got[k].re, got[k].im))));
  }
  return worst;
}

}  // namespace

TEST_CASE("fourier: roots of unity are those of the C library to two units in the last place of 1") {
  for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 7ULL, 8ULL, 1000ULL, 4096ULL, 167216ULL}) {
    INFO("n ", n);
    double worst = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
      const Exact wanted = exact_root(k, n);
      const Complex got = root_of_unity(k, n);
      worst = std::max({worst, static_cast<double>(std::fabs(wanted.real() - got.re)),
                        static_cast<double>(std::fabs(wanted.imag() - got.im))});
    }
    CHECK(worst < 2.3e-16);
  }
  for (const std::uint64_t quarter : {0U, 1U, 2U, 3U}) {  // exactly
    const Complex got = root_of_unity(quarter * 1001, 4004), turn = root_of_turn(quarter << 62);
    CHECK(got.re == (quarter == 0 ? 1 : quarter == 2 ? -1 : 0));
    CHECK(got.im == (quarter == 1 ? 1 : quarter == 3 ? -1 : 0));
    CHECK((turn.re == got.re && turn.im == got.im));
  }
}

TEST_CASE("fourier: the transform of any length is the sum that defines it") {
  for (std::size_t count = 1; count <= 70; ++count) {
    INFO(count, " points");
    CHECK(error_of(random_points(count, count), 1) < 2e-13);
  }
  for (const std::size_t count : {127U, 128U, 129U, 255U, 257U, 509U, 1024U, 1025U})
    CHECK(error_of(random_points(count, count), 7) < 5e-13);
  for (const std::size_t count : {4096U, 4099U, 83608U}) {
    INFO(count, " points");
    CHECK(error_of(random_points(count, count), count / 11) < 5e-13);
  }
  CHECK(coefficients_of({}).empty());
}

TEST_CASE("fourier: of points that are all equal only the centre is left") {
  for (const std::size_t count : {1U, 2U, 3U, 16U, 100U, 4096U}) {
    const std::vector<Complex> got = coefficients_of(std::vector<Complex>(count, {12.5, -3}));
    for (std::size_t k = 0; k < count; ++k) {
      CHECK(got[k].re == doctest::Approx(k == 0 ? 12.5 : 0));
      CHECK(std::abs(got[k].im - (k == 0 ? -3 : 0)) < 1e-13);
    }
  }
}

TEST_CASE("fourier: ranks are frequencies 0, -1, 1, -2, 2, ...") {
  const auto order = [](Index count) {
    std::vector<Index> indices;
    for (Index rank = 0; rank < count; ++rank) {
      indices.push_back(index_of(rank, count));
      CHECK(rank_of(indices.back(), count) == rank);
    }
    return indices;
  };
  CHECK(order(1) == std::vector<Index>{0});
  CHECK(order(2) == std::vector<Index>{0, 1});
  CHECK(order(5) == std::vector<Index>{0, 4, 1, 3, 2});
  CHECK(order(6) == std::vector<Index>{0, 5, 1, 4, 2, 3});
}

TEST_CASE("fourier: the largest coefficients are those of a sort, of ties the lowest frequencies") {
  Random random(8);
  for (const Index count : {1U, 2U, 9U, 64U, 65U})
    for (int kind = 0; kind < 3; ++kind) {
      std::vector<double> importance(count);
      for (double& one : importance)
        one = importance_of({kind == 0 ? 40 * random.unit() : kind == 1 ? random.below(4) : 0, 0});
      std::vector<Index> sorted(count);
      std::iota(sorted.begin(), sorted.end(), 0);
      std::sort(sorted.begin(), sorted.end(), [&](Index a, Index b) {
        if (importance[a] != importance[b]) return importance[a] > importance[b];
        return rank_of(a, count) < rank_of(b, count);
      });
      for (Index terms = 1; terms <= count; ++terms) {
        const Selection selection =
            select_top(OneThread{}, count, terms, [&](Index i) { return importance[i]; });
        for (Index i = 0; i < count; ++i)
          CHECK(selection.keeps(importance[sorted[i]], rank_of(sorted[i], count)) == (i < terms));
      }
    }
}

TEST_CASE("fourier: magnitudes that differ by less than 1e-9 are ties") {
  CHECK(importance_of({3, 4}) == 5e9);
  CHECK(importance_of({5.0000000001, 0}) == importance_of({3, 4}));
  CHECK(importance_of({5.000000002, 0}) > importance_of({3, 4}));
}

TEST_CASE("fourier: the curve goes through the points, and is the sum of the terms that are kept") {
  for (const std::size_t count : {1U, 2U, 3U, 50U, 101U}) {
    INFO(count, " points");
    const std::vector<Complex> points = random_points(count, count), coefficients = coefficients_of(points);
    std::vector<double> times;
    for (std::size_t j = 0; j < count; ++j)
      times.push_back(static_cast<double>(j) / static_cast<double>(count));
    const std::vector<Complex> through = curve_of(coefficients, count, KeptTerms::Top, times, 1);
    for (std::size_t j = 0; j < count; ++j) CHECK(magnitude(through[j] - points[j]) < 1e-10);
    for (const KeptTerms keep : {KeptTerms::Low, KeptTerms::Top})
      for (const Index terms : {1U, 2U, 7U}) {
        const std::vector<double> some{0, 0.3, 0.999, 1e-20, -0.25, 7.125, -1e-30};
        const std::vector<Complex> got = curve_of(coefficients, terms, keep, some, 3);
        for (std::size_t i = 0; i < some.size(); ++i) {
          const Exact wanted = exact_curve(coefficients, terms, keep, some[i]);
          CHECK(std::abs(wanted - Exact(got[i].re, got[i].im)) < 1e-11);
        }
      }
  }
}
