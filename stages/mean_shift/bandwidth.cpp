#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "pipeline/shared/threads.h"
#include "stages/mean_shift/points.h"

namespace contorno {
namespace {

double silverman(std::span<const double> points, std::size_t dims) {
  const std::size_t count = points.size() / dims;
  double deviations = 0;
  for (std::size_t k = 0; k < dims; ++k) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < count; ++i) mean += points[i * dims + k] / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double away = points[i * dims + k] - mean;
      square += away * away / static_cast<double>(count);
    }
    deviations += std::sqrt(square) / static_cast<double>(dims);
  }
  const auto d = static_cast<double>(dims);
  return deviations * std::pow(4 / ((d + 2) * static_cast<double>(count)), 1 / (d + 4));
}

}  // namespace

double estimate_bandwidth(std::span<const double> points, int dims, BandwidthRule rule, double quantile,
                          std::size_t most_samples, int threads) {
  if (dims < 1 || points.size() < static_cast<std::size_t>(dims) ||
      points.size() % static_cast<std::size_t>(dims) != 0)
    throw Error(ExitCode::BadData, fmt::format("estimate_bandwidth: {} values are no points of {} dimensions",
                                               points.size(), dims));
  if (!(quantile > 0 && quantile <= 1))
    throw Error(ExitCode::BadOption,
                fmt::format("estimate_bandwidth: quantile is {}, allowed above 0 to 1", quantile));
  const auto d = static_cast<std::size_t>(dims);
  if (rule == BandwidthRule::Silverman) return silverman(points, d);
  const std::size_t count = points.size() / d;
  const auto neighbour =
      std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) * quantile)) - 1;
  const std::size_t samples = std::clamp<std::size_t>(most_samples, 1, count);
  std::vector<double> reach(samples);
  for_tasks(decided_threads(threads), static_cast<int>(samples), [&](int task) {
    const double* y = points.data() + static_cast<std::size_t>(task) * count / samples * d;
    std::vector<double> squares(count);
    for (std::size_t i = 0; i < count; ++i) {
      double d2 = 0;
      for (std::size_t k = 0; k < d; ++k) d2 += (points[i * d + k] - y[k]) * (points[i * d + k] - y[k]);
      squares[i] = d2;
    }
    std::nth_element(squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(neighbour),
                     squares.end());
    reach[static_cast<std::size_t>(task)] = std::sqrt(squares[neighbour]);
  });
  if (rule == BandwidthRule::MedianNeighbour) {
    const auto middle = reach.begin() + static_cast<std::ptrdiff_t>(samples / 2);
    std::nth_element(reach.begin(), middle, reach.end());
    return samples % 2 == 1 ? *middle : (*middle + *std::max_element(reach.begin(), middle)) / 2;
  }
  double sum = 0;
  for (const double one : reach) sum += one;
  return sum / static_cast<double>(samples);
}

}  // namespace contorno
