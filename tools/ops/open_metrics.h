// Writes metrics as the text of OpenMetrics 1.0, which Prometheus and others read. Families come one after
// the other, each with all its samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace contorno {

using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class OpenMetrics {
 public:
  static constexpr const char* kType = "application/openmetrics-text; version=1.0.0; charset=utf-8";
  /// The most lines of samples: 64 cameras of 200. What is more is left out.
  static constexpr std::size_t kMostSamples = std::size_t{64} * 200;

  enum class Kind : std::uint8_t { Counter, Gauge, Histogram, StateSet, Info };
  /// Begins a family; `help` is a sentence, `unit` the end of the name, or empty.
  void begin(std::string_view family, Kind kind, std::string_view unit, std::string_view help);
  /// A sample of the family; `suffix` is what its kind wants: _total, _bucket, _sum, _count, _info.
  void sample(std::string_view suffix, MetricLabels labels, double value);
  void sample(std::string_view suffix, MetricLabels labels, std::uint64_t value);
  std::size_t samples() const { return samples_; }
  /// The whole text.
  std::string finish() &&;

 private:
  void line(std::string_view suffix, MetricLabels labels, std::string_view value);

  std::string text_, family_;
  std::size_t samples_ = 0;
};

}  // namespace contorno
