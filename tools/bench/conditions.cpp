#include "tools/bench/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "cuda/device.h"
#include "tools/latency/environment.h"

namespace contorno {

std::string conditions_line() {
  constexpr double kIdle = 0.5;  // processors at work on the average of a minute
  const Backend backend = device_report().available ? Backend::Cuda : Backend::Cpu;
  std::vector<std::string> facts;
  for (const auto& [name, value] : latency::environment_of(backend)) {
    facts.push_back(fmt::format("{} {}", name, value));
    if (name == latency::kLoadAverage)
      facts.back() += std::strtod(value.c_str(), nullptr) < kIdle ? " (idle)" : " (shared)";
  }
  return fmt::format("conditions: {}", fmt::join(facts, ", "));
}

}  // namespace contorno
