// Mean shift of points against plain loops in double precision, and its promises: equal bits on every path,
// clusters by first appearance, points without neighbours stay.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/error.h"
#include "cuda/device.h"
#include "stages/mean_shift/climb.h"
#include "stages/mean_shift/points.h"
#include "tests/stages/harness.h"

using namespace contorno;
using test::Random;

namespace {

using Samples = std::vector<double>;

double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit();
  return sum;
}

/// Clusters of unit deviation around random centres, in turns.
Samples clusters(int count, int dims, int groups, double spread, unsigned seed) {
  Random random(seed);
  Samples centres(static_cast<std::size_t>(groups * dims)), points;
  for (double& one : centres) one = spread * random.unit();
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < dims; ++k)
      points.push_back(centres[static_cast<std::size_t>(i % groups * dims + k)] + normal(random));
  return points;
}

/// One step of every point of `at` over `points`, as the formula is written.
Samples naive_step(const Samples& points, const Samples& at, int dims, const MeanShiftParams& params) {
  const std::size_t d = static_cast<std::size_t>(dims), n = points.size() / d;
  Samples moved = at;
  for (std::size_t i = 0; i < at.size() / d; ++i) {
    double total = 0;
    Samples sum(d, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      double square = 0;
      for (std::size_t k = 0; k < d; ++k) square += std::pow(at[i * d + k] - points[j * d + k], 2);
      const double length = std::sqrt(square), sigma = params.sigma;
      double weight = 0;
      if (params.kernel == MeanShiftKernel::Gaussian) {
        const double cut = params.cut_rule == MeanShiftCut::Sigmas ? params.cut * sigma : sigma * sigma;
        if (length < cut) weight = std::exp(-square / (2 * sigma * sigma));
      } else if (params.kernel == MeanShiftKernel::Flat) {
        weight = length <= sigma ? 1 : 0;
      } else if (length < sigma) {
        weight = 1 - square / (sigma * sigma);
      }
      total += weight;
      for (std::size_t k = 0; k < d; ++k) sum[k] += weight * points[j * d + k];
    }
    if (total > 0)
      for (std::size_t k = 0; k < d; ++k) moved[i * d + k] = sum[k] / total;
  }
  return moved;
}

double worst(const Samples& a, const Samples& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

/// Components of ends closer than merge * sigma by comparing all pairs again and again.
std::vector<int> naive_labels(const Samples& ends, int dims, double radius) {
  const std::size_t d = static_cast<std::size_t>(dims), n = ends.size() / d;
  std::vector<int> labels(n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<int>(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double square = 0;
        for (std::size_t k = 0; k < d; ++k) square += std::pow(ends[i * d + k] - ends[j * d + k], 2);
        if (std::sqrt(square) < radius && labels[i] != labels[j]) {
          labels[i] = labels[j] = std::min(labels[i], labels[j]);
          changed = true;
        }
      }
  }
  std::vector<int> seen;
  for (int& label : labels) {
    const auto at = std::find(seen.begin(), seen.end(), label);
    const int number = static_cast<int>(at - seen.begin());
    if (at == seen.end()) seen.push_back(label);
    label = number;
  }
  return labels;
}

MeanShiftOptions on_cpu(int threads = 1) {
  return {.backend = Backend::Cpu, .threads = threads};
}

constexpr MeanShiftKernel kKernels[] = {MeanShiftKernel::Gaussian, MeanShiftKernel::Flat,
                                        MeanShiftKernel::Epanechnikov};

}  // namespace

TEST_CASE("a mean shift step equals the formula for every kernel and number of dimensions") {
  for (const int dims : {1, 2, 3, 5, 33})
    for (const int count : {1, 2, 31, 32, 33, 300, 1100}) {
      const Samples points = clusters(count, dims, 4, 20, 7);
      for (const MeanShiftKernel kernel : kKernels) {
        const MeanShiftParams params{.sigma = kernel == MeanShiftKernel::Gaussian ? 1.3 : 2.0 + dims,
                                     .kernel = kernel,
                                     .max_iterations = 1};
        const Samples expected = naive_step(points, points, dims, params);
        for (const auto precision : {MeanShiftPrecision::Float32, MeanShiftPrecision::Float64}) {
          MeanShiftOptions options = on_cpu();
          options.precision = precision;
          const MeanShiftResult result = MeanShift(params, options).fit(points, dims);
          CHECK(worst(result.points, expected) <
                params.sigma * (precision == MeanShiftPrecision::Float32 ? 2e-5 : 1e-12));
          CHECK(result.iterations == 1);
        }
      }
    }
}

TEST_CASE("mean shift gives the same bits for any number of threads, any vectors and every backend") {
  for (const int dims : {1, 2, 3, 7, 40})
    for (const int count : {1, 77, 700}) {
      const Samples points = clusters(count, dims, 5, 30, 3);
      for (const MeanShiftKernel kernel : kKernels)
        for (const auto stop : {MeanShiftStop::PerPoint, MeanShiftStop::Frobenius})
          for (const auto precision : {MeanShiftPrecision::Float32, MeanShiftPrecision::Float64}) {
            const MeanShiftParams params{
                .sigma = 1.7, .kernel = kernel, .stop = stop, .eps = 1e-3, .max_iterations = 25};
            MeanShiftOptions options{.backend = Backend::Cpu, .threads = 1, .precision = precision};
            options.simd = Simd::Portable;
            const MeanShiftResult first = MeanShift(params, options).fit(points, dims);
            const auto same = [&](const MeanShiftResult& other) {
              CHECK(std::memcmp(first.points.data(), other.points.data(), 8 * first.points.size()) == 0);
              CHECK(first.labels == other.labels);
              CHECK(first.iterations == other.iterations);
              CHECK(first.residual == other.residual);
              CHECK(first.converged == other.converged);
            };
            for (const Simd simd : {Simd::Avx2, Simd::Avx512}) {
              options.simd = simd;
              options.threads = simd == Simd::Avx2 ? 2 : 3;
              same(MeanShift(params, options).fit(points, dims));
            }
            if (device_report().available) {
              options.backend = Backend::Cuda;
              same(MeanShift(params, options).fit(points, dims));
            }
          }
    }
}

TEST_CASE("mean shift takes as many dimensions as it allows") {
  const Samples points = clusters(40, MeanShift::kMaxDims, 2, 30, 31);
  for (const auto stop : {MeanShiftStop::PerPoint, MeanShiftStop::Frobenius})
    for (const auto precision : {MeanShiftPrecision::Float32, MeanShiftPrecision::Float64}) {
      const MeanShiftParams params{.sigma = 12, .stop = stop, .max_iterations = 5};
      MeanShiftOptions options = on_cpu(2);
      options.precision = precision;
      const MeanShiftResult result = MeanShift(params, options).fit(points, MeanShift::kMaxDims);
      CHECK(result.counts == std::vector<std::int64_t>{20, 20});
      if (!device_report().available) continue;
      options.backend = Backend::Cuda;
      const MeanShiftResult device = MeanShift(params, options).fit(points, MeanShift::kMaxDims);
      CHECK(std::memcmp(result.points.data(), device.points.data(), 8 * result.points.size()) == 0);
    }
}

TEST_CASE("mean shift comes to rest where the plain loops do and finds the same clusters") {
  for (const MeanShiftKernel kernel : kKernels) {
    const Samples points = clusters(240, 2, 4, 40, 11);
    const MeanShiftParams params{.sigma = kernel == MeanShiftKernel::Gaussian ? 1.0 : 2.5, .kernel = kernel};
    const MeanShiftResult result = MeanShift(params, on_cpu(2)).fit(points, 2);
    CHECK(result.converged);
    Samples at = points;
    std::vector<bool> rests(240, false);
    for (int k = 0; k < params.max_iterations; ++k) {
      const Samples next = naive_step(points, at, 2, params);
      for (std::size_t i = 0; i < 240; ++i) {
        if (rests[i]) continue;
        rests[i] =
            std::hypot(next[2 * i] - at[2 * i], next[2 * i + 1] - at[2 * i + 1]) < params.eps * params.sigma;
        at[2 * i] = next[2 * i], at[2 * i + 1] = next[2 * i + 1];
      }
    }
    CHECK(worst(result.points, at) < 1e-2 * params.sigma);
    CHECK(result.labels == naive_labels(at, 2, params.merge * params.sigma));
    CHECK(result.residual < params.eps);
  }
}

TEST_CASE("a walk over many levels of the tree leaves out nothing that has weight") {
  const Samples points = clusters(40000, 2, 9, 100, 5);
  const MeanShiftParams params{.sigma = 2, .max_iterations = 1};
  const MeanShiftResult result = MeanShift(params, on_cpu(2)).fit(points, 2);
  double most = 0;
  for (std::size_t i = 0; i < 40000; i += 997) {
    const Samples one{points[2 * i], points[2 * i + 1]};
    const Samples moved = naive_step(points, one, 2, params);
    most = std::max(
        {most, std::abs(moved[0] - result.points[2 * i]), std::abs(moved[1] - result.points[2 * i + 1])});
  }
  CHECK(most < 5e-5);
}

TEST_CASE("clusters are numbered by first appearance, with their sizes and the mean of their ends") {
  const Samples points{50, 50, 0, 0, 50.1, 50, 0, 0.1, 100, 0, 0.1, 0};
  const MeanShiftResult result = MeanShift({.sigma = 1}, on_cpu()).fit(points, 2);
  CHECK(result.labels == std::vector<int>{0, 1, 0, 1, 2, 1});
  CHECK(result.counts == std::vector<std::int64_t>{2, 3, 1});
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 2; ++c) {
      double mean = 0;
      for (std::size_t i = 0; i < 6; ++i)
        if (result.labels[i] == static_cast<int>(k))
          mean += result.points[2 * i + c] / static_cast<double>(result.counts[k]);
      CHECK(result.modes[2 * k + c] == doctest::Approx(mean));
    }
  const MeanShiftResult fewer = MeanShift({.sigma = 1, .min_size = 3}, on_cpu()).fit(points, 2);
  CHECK(fewer.labels == std::vector<int>{-1, 0, -1, 0, -1, 0});
  CHECK(fewer.counts == std::vector<std::int64_t>{3});
}

TEST_CASE("ends belong together through others, however long the chain") {
  Samples points;
  for (int i = 0; i < 100; ++i) points.push_back(0.4 * ((i * 37) % 100));
  const MeanShiftParams params{.sigma = 1e-3, .max_iterations = 1, .merge = 400.0001};
  CHECK(MeanShift(params, on_cpu()).fit(points, 1).counts == std::vector<std::int64_t>{100});
  MeanShiftParams less = params;
  less.merge = 399.9;
  CHECK(MeanShift(less, on_cpu()).fit(points, 1).counts.size() == 100);
}

TEST_CASE("a point that no other has weight for stays where it is") {
  const std::vector<float> data{0, 1, 2};
  const MeanShiftTree<float> tree = make_mean_shift_tree(data.data(), 3, 1);
  const float start = 500;
  float end = 0;
  const ClimbTask<float> task{.tree = &tree,
                              .rule = {.limit = 9, .scale = -0.7F, .stop = 1e-6F, .most = 50},
                              .starts = &start,
                              .ends = &end,
                              .count = 1};
  const ClimbSummary summary = climb_on_cpu(task, 1, best_simd());
  CHECK(end == 500);
  CHECK(summary.iterations == 1);
  CHECK(summary.converged);
}

TEST_CASE("the paper's cut of sigma squared depends on the unit, ours does not") {
  const Samples points = clusters(200, 2, 3, 60, 9);
  Samples larger = points;
  for (double& one : larger) one *= 16;
  const auto labels = [](const Samples& data, double sigma, MeanShiftCut cut) {
    return MeanShift({.sigma = sigma, .cut_rule = cut, .max_iterations = 60}, on_cpu()).fit(data, 2);
  };
  CHECK(labels(points, 1, MeanShiftCut::Sigmas).labels == labels(larger, 16, MeanShiftCut::Sigmas).labels);
  const MeanShiftResult small = labels(points, 1, MeanShiftCut::SigmaSquared);
  const MeanShiftResult big = labels(larger, 16, MeanShiftCut::SigmaSquared);
  CHECK(small.counts.size() != big.counts.size());
  // Far beyond what float32 can hold of the Gaussian: nothing becomes infinite or NaN, nothing teleports.
  for (const double value : labels(larger, 40, MeanShiftCut::SigmaSquared).points)
    CHECK(std::isfinite(value));
  const MeanShiftParams paper{.sigma = 1.5, .cut_rule = MeanShiftCut::SigmaSquared, .max_iterations = 1};
  CHECK(worst(MeanShift(paper, on_cpu()).fit(points, 2).points, naive_step(points, points, 2, paper)) < 1e-4);
}

TEST_CASE("the Frobenius rule stops all points together, after as many steps as the plain loops") {
  const Samples points = clusters(150, 2, 3, 30, 21);
  const MeanShiftParams params{.sigma = 1, .stop = MeanShiftStop::Frobenius, .eps = 1e-2};
  const MeanShiftResult result = MeanShift(params, on_cpu(2)).fit(points, 2);
  Samples at = points;
  int steps = 0;
  double norm = 1;
  for (; norm >= params.eps && steps < 300; ++steps) {
    const Samples next = naive_step(points, at, 2, params);
    norm = 0;
    for (std::size_t i = 0; i < at.size(); ++i) norm += std::pow(next[i] - at[i], 2);
    norm = std::sqrt(norm);
    at = next;
  }
  CHECK(result.iterations == steps);
  CHECK(result.residual == doctest::Approx(norm).epsilon(0.01));
  CHECK(worst(result.points, at) < 1e-3);
}

TEST_CASE("the cap on iterations ends the climb and says so") {
  const Samples points = clusters(100, 2, 1, 1, 2);
  const MeanShiftResult result =
      MeanShift({.sigma = 0.5, .eps = 1e-9, .max_iterations = 3}, on_cpu()).fit(points, 2);
  CHECK(result.iterations == 3);
  CHECK_FALSE(result.converged);
  CHECK(result.residual > 1e-9);
}

TEST_CASE("points that span many sigmas are worked on in double precision") {
  Samples points;
  for (int i = 0; i < 60; ++i) points.push_back((i % 2) * 1e7 + 0.01 * i);
  const MeanShiftResult result = MeanShift({.sigma = 1}, on_cpu()).fit(points, 1);
  CHECK(result.precision == MeanShiftPrecision::Float64);
  CHECK(result.counts == std::vector<std::int64_t>{30, 30});
  CHECK(result.modes[1] == doctest::Approx(1e7 + 0.3).epsilon(1e-9));
}

TEST_CASE("fitted points are predicted to be in their own cluster and far ones in none") {
  const Samples points = clusters(500, 3, 6, 60, 13);
  MeanShift shift({.sigma = 1.2, .min_size = 5}, on_cpu(2));
  const MeanShiftResult result = shift.fit(points, 3);
  CHECK(shift.predict(points) == result.labels);
  CHECK(shift.predict(Samples{1e4, 0, 0}) == std::vector<int>{-1});
  Samples near;
  for (std::size_t k = 0; k < result.counts.size(); ++k)
    for (std::size_t c = 0; c < 3; ++c) near.push_back(result.modes[3 * k + c] + 0.3);
  const std::vector<int> labels = shift.predict(near);
  for (std::size_t k = 0; k < labels.size(); ++k) CHECK(labels[k] == static_cast<int>(k));
}

TEST_CASE("the estimated bandwidth is the mean distance to the neighbour at the quantile") {
  const Samples points = clusters(120, 2, 2, 10, 17);
  double sum = 0;
  Samples all;
  for (std::size_t i = 0; i < 120; ++i) {
    std::multiset<double> distances;
    for (std::size_t j = 0; j < 120; ++j)
      distances.insert(std::hypot(points[2 * i] - points[2 * j], points[2 * i + 1] - points[2 * j + 1]));
    all.push_back(*std::next(distances.begin(), 35));
    sum += all.back();
  }
  CHECK(estimate_bandwidth(points, 2, BandwidthRule::MeanNeighbour, 0.3) == doctest::Approx(sum / 120));
  std::sort(all.begin(), all.end());
  CHECK(estimate_bandwidth(points, 2, BandwidthRule::MedianNeighbour, 0.3) ==
        doctest::Approx((all[59] + all[60]) / 2));
  const Samples line{0, 1, 2, 3, 4};
  CHECK(estimate_bandwidth(line, 1, BandwidthRule::Silverman) ==
        doctest::Approx(std::sqrt(2.0) * std::pow(4.0 / 15, 0.2)));
}

TEST_CASE("mean shift says what is wrong with its points and parameters") {
  CHECK(MeanShift({}, on_cpu()).fit({}, 2).labels.empty());
  const Samples bad{0, std::nan("")};
  CHECK_THROWS_WITH_AS(MeanShift({}, on_cpu()).fit(bad, 2), "mean shift: value 1 of point 0 is not finite",
                       Error);
  CHECK_THROWS_AS(MeanShift({}, on_cpu()).fit(Samples{1, 2, 3}, 2), Error);
  CHECK_THROWS_AS(MeanShift({}, on_cpu()).fit(Samples(600, 1.0), 600), Error);
  CHECK_THROWS_AS(MeanShift({.sigma = 0}, on_cpu()), Error);
  CHECK_THROWS_AS(MeanShift({.max_iterations = 0}, on_cpu()), Error);
}
