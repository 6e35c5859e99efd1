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
  std::vector<int> devices;
  if (device_report().available) devices.push_back(device_report().devices.front().index);
  std::vector<std::string> facts;
  for (const auto& [name, value] : latency::environment_of(devices)) {
    facts.push_back(fmt::format("{} {}", name, value));
    if (name == latency::kLoadAverage)
      facts.back() += std::strtod(value.c_str(), nullptr) < kIdle ? " (idle)" : " (shared)";
  }
  return fmt::format("conditions: {}", fmt::join(facts, ", "));
}

}  // namespace contorno
