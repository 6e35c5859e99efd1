// Th. Spyrou's table: his variants and contorno on data a (600 x 2) and b (1024 x 32), and where the points
// go.
#include "tools/bench/sources/spyrou.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "stages/mean_shift/points.h"
#include "tools/bench/sources/records.h"

namespace contorno::sources {
namespace {

/// Gaussian clusters around centres that are evenly spread in a cube.
SpyrouInput clusters(int count, int dims, int centres, double side, double spread) {
  std::mt19937 random(8583);
  std::uniform_real_distribution<double> place(-side / 2, side / 2);
  std::normal_distribution<double> around(0, spread);
  std::vector<double> middles(static_cast<std::size_t>(centres * dims));
  for (double& middle : middles) middle = place(random);
  SpyrouInput input{.points = {}, .count = count, .dims = dims};
  for (int i = 0; i < count; ++i)
    for (int d = 0; d < dims; ++d)
      input.points.push_back(
          static_cast<float>(middles[static_cast<std::size_t>(i % centres * dims + d)] + around(random)));
  return input;
}

MeanShiftResult by_contorno(const SpyrouInput& input, Backend backend, int threads) {
  MeanShift fit({.sigma = static_cast<double>(input.sigma),
                 .cut_rule = MeanShiftCut::SigmaSquared,
                 .stop = MeanShiftStop::Frobenius,
                 .eps = static_cast<double>(input.eps),
                 .max_iterations = input.most_iterations},
                {.backend = backend, .threads = threads});
  return fit.fit(std::vector<double>(input.points.begin(), input.points.end()), input.dims);
}

/// The farthest that an end lies from the product's, in sigmas.
double farthest(const SpyrouInput& input, const std::vector<float>& ends, const MeanShiftResult& product) {
  double most = 0;
  for (int i = 0; i < input.count; ++i) {
    double square = 0;
    for (int d = 0; d < input.dims; ++d) {
      const auto at = static_cast<std::size_t>(i * input.dims + d);
      square += std::pow(static_cast<double>(ends[at]) - product.points[at], 2);
    }
    most = std::max(most, std::sqrt(square));
  }
  return most / static_cast<double>(input.sigma);
}

void measure_points(Records& records, const std::string& name, const SpyrouInput& input,
                    const Options& options, [[maybe_unused]] bool device) {
  const MeanShiftResult product = by_contorno(input, Backend::Cpu, 1);
  const auto variant = [&](const std::string& called, const auto& run) {
    SpyrouResult result;
    const std::vector<double> seconds = measured(options.runs, [&] { return (result = run(input)).seconds; });
    records.time(name, called, seconds, {{"iterations", result.iterations}});
    const double distance = farthest(input, result.points, product);
    records.check(name, called, distance < 1e-3 && std::abs(result.iterations - product.iterations) <= 2,
                  fmt::format("ends within {:.2g} sigma of contorno's, {} iterations, contorno {}", distance,
                              result.iterations, product.iterations));
  };
  const auto contorno = [&](const std::string& called, Backend backend, int threads) {
    MeanShiftResult result;
    const std::vector<double> seconds = measured(
        options.runs, [&] { return 1e-6 * (result = by_contorno(input, backend, threads)).climb_us; });
    records.time(name, called, seconds,
                 {{"iterations", result.iterations}, {"clusters", result.counts.size()}});
    records.check(name, called, result.points == product.points && result.labels == product.labels,
                  "the bits of one thread");
  };
  variant("serial -O0", spyrou_serial_o0);
  variant("serial -O3", spyrou_serial_o3);
  contorno("contorno, 1 thread", Backend::Cpu, 1);
  contorno("contorno, all threads", Backend::Cpu, 0);
#if CONTORNO_HAVE_CUDA
  if (device) {
    variant("CUDA (global)", [](const SpyrouInput& one) { return spyrou_cuda(one, false); });
    variant("CUDA (shared)", [](const SpyrouInput& one) { return spyrou_cuda(one, true); });
    contorno("contorno, CUDA", Backend::Cuda, 0);
  }
#endif
  if (input.dims == 2)
    records.fact(
        "points",
        {{"case", name}, {"before", input.points}, {"after", product.points}, {"labels", product.labels}});
}

}  // namespace

void spyrou(Records& records, const Options& options) {
  const bool device = has_device(records);
  SpyrouInput a = clusters(options.small ? 60 : 600, 2, 6, 8, 0.5);
  measure_points(records, "a", a, options, device);
  SpyrouInput b = clusters(options.small ? 64 : 1024, 32, 16, 4, 0.1);
  b.eps = 1.5e-4F, b.block = 10;
  measure_points(records, "b", b, options, device);
}

}  // namespace contorno::sources
