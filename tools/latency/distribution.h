// The distribution of one time over the frames of a measurement, and the figures of it. Figures are exact
// while the samples are there; of a distribution that was read from a file or put together from several they
// come from its histogram, whose buckets are 0.8 % wide.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/run/histogram.h"

namespace contorno::latency {

/// A percentile needs so many samples beyond it, and at least so many frames above the median.
inline constexpr double kSamplesBeyond = 10;

/// The percentiles that are shown, as shares and by name.
struct NamedPercentile {
  double share;
  const char* name;
};
inline constexpr std::array<NamedPercentile, 5> kPercentiles{
    {{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}, {0.9999, "p99.99"}}};

/// How many frames a percentile needs.
std::uint64_t frames_needed(double share);

struct Percentile {
  enum class State : std::uint8_t { Known, TooFew, Infinite } state = State::TooFew;
  double ms = 0;  ///< value of the percentile; only with Known
};

class Distribution {
 public:
  Distribution() = default;
  /// The distribution of samples in ns, in any order.
  Distribution(std::string name, std::vector<std::int64_t> samples);
  /// The distribution that a report file describes.
  Distribution(std::string name, const Histogram& histogram, double min_ms, double max_ms, double mean_ms,
               double jitter_ms);

  const std::string& name() const { return name_; }
  std::uint64_t count() const { return histogram_.count(); }
  double min_ms() const { return min_ms_; }
  double max_ms() const { return max_ms_; }
  double mean_ms() const { return mean_ms_; }
  /// The standard deviation.
  double jitter_ms() const { return jitter_ms_; }
  const Histogram& histogram() const { return histogram_; }

  /// The smallest value that at least `share` of all do not exceed (nearest rank), where `missing` more
  /// samples are taken for infinite: dropped frames.
  Percentile percentile(double share, std::uint64_t missing = 0) const;
  /// Between which values that percentile of the population lies, with this confidence in units of the
  /// normal distribution's deviation (1.96: 95 %), by order statistics. The first is 0 and the second
  /// infinite where there are too few samples to say.
  struct Interval {
    double low_ms, high_ms;
  };
  Interval interval(double share, double deviations, std::uint64_t missing = 0) const;

  /// Adds the samples of `other`; figures come from histograms from then on.
  void merge(const Distribution& other);

 private:
  /// The value of rank `rank`, from 1, in ms.
  double at_rank(std::uint64_t rank) const;

  std::string name_;
  std::vector<std::int64_t> sorted_;  // empty: only the histogram is known
  Histogram histogram_;
  double min_ms_ = 0, max_ms_ = 0, mean_ms_ = 0, jitter_ms_ = 0;
};

/// The largest share of frames that may miss in the long run, with 95 % confidence, where `misses` of
/// `frames` did (C. Clopper and E. Pearson, 1934). 1 without frames.
double most_misses(std::uint64_t misses, std::uint64_t frames);

}  // namespace contorno::latency
