#include "tools/latency/owed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace contorno::latency {
namespace {

/// Steps of a regular source: so many are needed, this share of them must be near the middle one, and this
/// near.
constexpr std::size_t kLeastSteps = 10;
constexpr double kNearlyAll = 0.9, kNear = 0.2;
/// The most frames that a source can owe: where it would owe more, its rate means nothing.
constexpr double kMostOwed = 5e6;

double rate_of_steps(const std::vector<DueFrame>& frames) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < frames.size(); ++i)
    steps.push_back(static_cast<double>(frames[i].due_ns - frames[i - 1].due_ns));
  if (steps.size() < kLeastSteps) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  const double step = *middle;
  const auto near = std::count_if(steps.begin(), steps.end(),
                                  [&](double one) { return std::abs(one - step) <= kNear * step; });
  return step > 0 && static_cast<double>(near) >= kNearlyAll * static_cast<double>(steps.size()) ? 1e9 / step
                                                                                                 : 0;
}

bool is_before(const DueFrame& a, const DueFrame& b) {
  return a.due_ns < b.due_ns;
}

}  // namespace

double rate_of_source(const std::vector<PassedElement>& way, const std::vector<DueFrame>& frames) {
  for (const PassedElement& place : way)
    if (place.rate > 0) return place.rate;
  std::vector<DueFrame> ordered = frames;
  std::stable_sort(ordered.begin(), ordered.end(), is_before);
  return rate_of_steps(ordered);
}

std::vector<DueFrame> with_owed(std::vector<DueFrame> frames, double rate, std::int64_t begin_ns,
                                std::int64_t end_ns) {
  std::stable_sort(frames.begin(), frames.end(), is_before);
  if (!(rate > 0) || frames.empty()) return frames;
  const double step = 1e9 / rate;
  std::vector<DueFrame> all;
  double owed = 0;
  // Adds `count` owed frames behind one that was due at `due_ns`, a step apart.
  const auto add_behind = [&](std::int64_t due_ns, double count) {
    const double skipped = std::max(0.0, std::ceil(static_cast<double>(begin_ns - due_ns) / step) - 1);
    owed += std::max(0.0, count - skipped);
    if (owed > kMostOwed)
      throw Error(
          ExitCode::BadOption,
          fmt::format("the source says that it sends {:g} frames a second, of which more than {:g} did "
                      "not come: choose a shorter --duration, or caps with its rate",
                      rate, kMostOwed));
    for (double k = skipped + 1; k <= count; ++k)
      all.push_back({.due_ns = due_ns + static_cast<std::int64_t>(k * step)});
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // Cameras are not exact: a frame is owed where there is room for it.
    if (i > 0)
      add_behind(frames[i - 1].due_ns,
                 std::round(static_cast<double>(frames[i].due_ns - frames[i - 1].due_ns) / step) - 1);
    all.push_back(frames[i]);
  }
  if (end_ns > 0)
    add_behind(frames.back().due_ns, std::floor(static_cast<double>(end_ns - frames.back().due_ns) / step));
  return all;
}

}  // namespace contorno::latency
