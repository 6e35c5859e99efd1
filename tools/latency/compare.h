// Whether a measurement is better or worse than an earlier one, figure by figure, by tests and not by eye.
//
// A figure is worse where it is larger by more than the tolerance and chance does not explain it: medians and
// means by the Mann-Whitney rank test of the two distributions (H. Mann and D. Whitney, 1947, with the
// correction for ties), other percentiles where their intervals of order statistics do not meet, and the
// share of misses by the two-proportion test; all at 99 %. Frames that follow each other are not independent
// and a machine is not the same twice, which no such test knows of: where both measurements were repeated, a
// difference must also be larger than that between the repeats of one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/latency/report.h"

namespace contorno::latency {

/// The probability that a difference is reported where there is none (two-sided).
inline constexpr double kSignificance = 0.01;

/// The two-sided probability that samples of one distribution differ so much in rank, by the normal
/// approximation. 1 where one is empty.
double rank_test(const Histogram& one, const Histogram& other);

struct Figure {
  enum class State : std::uint8_t { Noise, Better, Worse } state = State::Noise;
  std::string row, name;  ///< "due to result", "p99"
  double before = 0, after = 0;
  double change = 0;  ///< after / before - 1
  std::string unit;
};

struct Comparison {
  double tolerance = 0;
  std::string input;        ///< how the inputs differ; empty: they do not, as far as is known
  std::string differences;  ///< beside the time when they were made: of graph and machine
  std::vector<Figure> figures;
  bool worse() const;
};

/// `tolerance` is a share. Throws Error(BadOption) where the loads differ.
Comparison compare(const LatencyReport& before, const LatencyReport& after, double tolerance);

/// A line that has to stand before everything that is said of both measurements; empty where there is nothing
/// to warn of.
std::string warning_of(const Comparison& comparison);
std::string table_of(const Comparison& comparison);

}  // namespace contorno::latency
