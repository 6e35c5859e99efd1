#include "tools/latency/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace contorno::latency {
namespace {

/// The rank, from 1, of a share of `count` samples.
std::uint64_t rank_of(double share, std::uint64_t count) {
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count) - 1e-9)));
}

/// The probability of at most `misses` in `frames` where each misses with `rate`.
double at_most(std::uint64_t misses, std::uint64_t frames, double rate) {
  const double n = static_cast<double>(frames);
  // Farther from the mean than this there is nothing that a double could add to the sum.
  constexpr double kDeviations = 12, kMore = 60;
  const double far = kDeviations * std::sqrt(n * rate * (1 - rate)) + kMore, mean = n * rate;
  if (static_cast<double>(misses) > mean + far) return 1;
  double sum = 0;
  for (auto k = static_cast<std::uint64_t>(std::max(0.0, mean - far)); k <= misses; ++k) {
    const double x = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(rate) +
                    (n - x) * std::log1p(-rate));
  }
  return sum;
}

}  // namespace

std::uint64_t frames_needed(double share) {
  if (share <= 0.5) return 1;
  return static_cast<std::uint64_t>(std::ceil(kSamplesBeyond / (1 - share) - 1e-6));
}

Distribution::Distribution(std::string name, std::vector<std::int64_t> samples)
    : name_(std::move(name)), sorted_(std::move(samples)) {
  if (sorted_.empty()) return;
  std::sort(sorted_.begin(), sorted_.end());
  for (const std::int64_t sample : sorted_) histogram_.record(sample);
  min_ms_ = static_cast<double>(sorted_.front()) * 1e-6;
  max_ms_ = static_cast<double>(sorted_.back()) * 1e-6;
  const double n = static_cast<double>(sorted_.size());
  mean_ms_ = std::accumulate(sorted_.begin(), sorted_.end(), 0.0) / n * 1e-6;
  double squares = 0;
  for (const std::int64_t sample : sorted_) {
    const double deviation = static_cast<double>(sample) * 1e-6 - mean_ms_;
    squares += deviation * deviation;
  }
  jitter_ms_ = std::sqrt(squares / n);
}

Distribution::Distribution(std::string name, const Histogram& histogram, double min_ms, double max_ms,
                           double mean_ms, double jitter_ms)
    : name_(std::move(name)),
      histogram_(histogram),
      min_ms_(min_ms),
      max_ms_(max_ms),
      mean_ms_(mean_ms),
      jitter_ms_(jitter_ms) {}

double Distribution::at_rank(std::uint64_t rank) const {
  if (!sorted_.empty()) return static_cast<double>(sorted_[rank - 1]) * 1e-6;
  const double share = static_cast<double>(rank) / static_cast<double>(count());
  return std::clamp(histogram_.percentile_us(share) * 1e-3, min_ms_, max_ms_);
}

Percentile Distribution::percentile(double share, std::uint64_t missing) const {
  const std::uint64_t all = count() + missing;
  if (all == 0 || all < frames_needed(share)) return {};
  const std::uint64_t rank = std::min(rank_of(share, all), all);
  if (rank > count()) return {.state = Percentile::State::Infinite};
  return {.state = Percentile::State::Known, .ms = at_rank(rank)};
}

Distribution::Interval Distribution::interval(double share, double deviations, std::uint64_t missing) const {
  const double n = static_cast<double>(count() + missing);
  const double reach = deviations * std::sqrt(n * share * (1 - share));
  const auto low = static_cast<std::int64_t>(std::floor(n * share - reach));
  const auto high = static_cast<std::int64_t>(std::ceil(n * share + reach)) + 1;
  const auto value = [&](std::int64_t rank) {
    if (rank < 1) return 0.0;
    if (rank > static_cast<std::int64_t>(count())) return std::numeric_limits<double>::infinity();
    return at_rank(static_cast<std::uint64_t>(rank));
  };
  return {.low_ms = value(low), .high_ms = value(high)};
}

void Distribution::merge(const Distribution& other) {
  if (other.count() == 0) return;
  if (count() == 0) {
    *this = other;
    return;
  }
  const double own = static_cast<double>(count()), its = static_cast<double>(other.count());
  const double mean = (own * mean_ms_ + its * other.mean_ms_) / (own + its);
  const auto squares = [&](double n, const Distribution& one) {
    return n * (one.jitter_ms_ * one.jitter_ms_ + (one.mean_ms_ - mean) * (one.mean_ms_ - mean));
  };
  jitter_ms_ = std::sqrt((squares(own, *this) + squares(its, other)) / (own + its));
  mean_ms_ = mean;
  min_ms_ = std::min(min_ms_, other.min_ms_);
  max_ms_ = std::max(max_ms_, other.max_ms_);
  histogram_.merge(other.histogram_);
  sorted_.clear();
}

double most_misses(std::uint64_t misses, std::uint64_t frames) {
  if (misses >= frames) return 1;
  double low = static_cast<double>(misses) / static_cast<double>(frames), high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (at_most(misses, frames, middle) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace contorno::latency
