// The machine and the build that a measurement was made with: what a published figure has to carry.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace contorno::latency {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// The name of the fact that says how busy the machine was in the last 1, 5 and 15 minutes.
inline constexpr const char* kLoadAverage = "load average";

/// Pairs of a name and a value, those that can be found out. Names no machine and no user. `devices` are the
/// CUDA devices that work, by number; none: the CPU alone.
Facts environment_of(const std::vector<int>& devices);

/// Clocks, temperature and reasons for throttling of these graphics cards, as nvidia-smi tells them; empty
/// without it.
std::string device_state(const std::vector<int>& devices);

}  // namespace contorno::latency
