// Searches: the highest rate, or the most cameras, that hold the deadline. And what the probes cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/latency/measure.h"
#include "tools/latency/report.h"

namespace contorno::latency {

/// A search, and the measurement of the best load that held; none where not even the least did.
struct Searched {
  std::vector<Trial> trials;
  std::optional<Measurement> best;
};

/// The rate that a search begins with, in frames a second of each of `cameras`: that of frames one after the
/// other, each of which takes `frame_ms`; 10 where `frame_ms` is 0, not known.
double first_rate(double frame_ms, int cameras);
/// The rates that a search tries, from `first` on: doubled or halved until one holds and another does not,
/// then between the two until they are 2 % apart, as long as it `goes_on`. Gives up far below `first`.
void step_to_rate(double first, const std::function<bool(double rate)>& holds,
                  const std::function<bool()>& goes_on);

/// The highest rate, within about 2 %, at which the frames of all cameras hold the deadline. Starts from
/// what a closed loop reaches.
Searched search_rate(const Bench& bench, const Load& load, const Settings& settings);
/// The most cameras that hold it at the rate of `load`, at most `most`.
Searched search_cameras(const Bench& bench, const Load& load, const Settings& settings, int most);

/// What it costs to take the time of every part: the medians of closed loops with all frames probed and with
/// none, in turns. Where one frame in N is probed the cost is an N-th of this: a median would hide it.
/// `frame_ms`, about what a frame takes, sets how long a loop runs.
ProbeCost probe_cost(const Bench& bench, const Load& load, double frame_ms);

/// How often anything in the process allocates while frames go to their results one at a time, without sinks.
/// `allocations` returns the process's count so far. The source's frames must be held in memory before.
FrameAllocations frame_allocations(const Bench& bench, const Load& load, double frame_ms,
                                   std::uint64_t (*allocations)());

}  // namespace contorno::latency
