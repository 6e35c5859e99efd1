#include "pipeline/run/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace contorno;

TEST_CASE("percentiles of the histogram are those of the sorted values within one bucket") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> values(11, 2);
  Histogram histogram;
  std::vector<std::int64_t> sorted;
  for (int i = 0; i < 20000; ++i) {
    sorted.push_back(static_cast<std::int64_t>(values(random)));
    histogram.record(sorted.back());
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double fraction : {0.0001, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * 20000)) - 1;
    const double exact = static_cast<double>(sorted[rank]) * 1e-3;
    CHECK(histogram.percentile_us(fraction) >= exact * 0.999999);
    CHECK(histogram.percentile_us(fraction) <= exact * 1.008 + 1e-3);
  }
  CHECK(histogram.min_us() == doctest::Approx(static_cast<double>(sorted.front()) * 1e-3));
  CHECK(histogram.max_us() == doctest::Approx(static_cast<double>(sorted.back()) * 1e-3));
}

TEST_CASE(
    "small values have a bucket each, negative ones count as zero, absurd ones do not leave the table") {
  Histogram histogram;
  histogram.record(-5);
  CHECK(histogram.max_us() == 0);
  histogram.record(100);
  CHECK(histogram.percentile_us(1) == doctest::Approx(0.1));
  histogram.record(std::int64_t{1} << 62);
  CHECK(histogram.count() == 3);
  histogram.record(std::numeric_limits<std::int64_t>::max(), 0);  // no time at all
  CHECK(histogram.count() == 3);
  CHECK(histogram.max_us() == doctest::Approx(static_cast<double>(std::int64_t{1} << 62) * 1e-3));
  CHECK(histogram.percentile_us(1) > 1e6);
}

TEST_CASE("the mean is that of all values, however often each came and in whichever part") {
  Histogram histogram, other;
  CHECK(histogram.mean_us() == 0);
  histogram.record(1'000);
  histogram.record(2'000, 3);
  CHECK(histogram.mean_us() == doctest::Approx(1.75));
  other.record(13'000);
  histogram.merge(other);
  CHECK(histogram.count() == 5);
  CHECK(histogram.mean_us() == doctest::Approx(4));
}
