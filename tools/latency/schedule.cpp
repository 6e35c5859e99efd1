#include "tools/latency/schedule.h"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string_view>

#include "base/error.h"
#include "config/numbers.h"

namespace contorno::latency {
namespace {

constexpr std::string_view kBurst = "burst:";
constexpr std::int64_t kMostAtOnce = 1'000'000;

/// From 0, included, to 1; made of the top bits, because the library's distributions are not the same on
/// every machine.
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

}  // namespace

Arrival arrival_from(const std::string& text) {
  if (text == "fixed") return {};
  if (text == "poisson") return {.kind = ArrivalKind::Poisson};
  if (text.starts_with(kBurst)) {
    const auto burst = config::whole_number(std::string_view(text).substr(kBurst.size()));
    if (burst && *burst >= 2 && *burst <= kMostAtOnce) return {.kind = ArrivalKind::Burst, .burst = *burst};
  }
  throw Error(ExitCode::Usage,
              fmt::format("--arrival is '{}', wanted fixed, poisson, or burst:N with N from 2 to {}", text,
                          kMostAtOnce));
}

std::string text_of(const Arrival& arrival) {
  switch (arrival.kind) {
    case ArrivalKind::Fixed:
      return "fixed";
    case ArrivalKind::Poisson:
      return "poisson";
    case ArrivalKind::Burst:
      break;
  }
  return fmt::format("{}{}", kBurst, arrival.burst);
}

std::vector<std::int64_t> schedule(const Arrival& arrival, double rate, std::size_t frames,
                                   std::uint64_t seed) {
  std::vector<std::int64_t> due(frames);
  const double interval = 1e9 / rate;
  std::mt19937_64 random(seed);
  double poisson = 0;
  for (std::size_t k = 0; k < frames; ++k) {
    const auto together = static_cast<std::size_t>(arrival.burst);
    const std::size_t step = arrival.kind == ArrivalKind::Burst ? k / together * together : k;
    // Not added up step by step, so that errors do not add up either.
    const double time = arrival.kind == ArrivalKind::Poisson ? poisson : static_cast<double>(step) * interval;
    due[k] = static_cast<std::int64_t>(time);
    poisson -= std::log(1 - uniform(random)) * interval;
  }
  return due;
}

}  // namespace contorno::latency
