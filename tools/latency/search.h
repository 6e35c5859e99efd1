// Searches: the highest rate, or the most cameras, that hold the deadline. And what the probes cost.
#pragma once

#include <functional>
#include <vector>

#include "tools/latency/measure.h"
#include "tools/latency/report.h"

namespace contorno::latency {

/// A search, and the measurement of the best load that held; none where not even the least did.
struct Searched {
  std::vector<Trial> trials;
  std::optional<Measurement> best;
};

/// Frames a second of each of `cameras` when one frame follows the other, of which each takes `frame_ms`;
/// 10 where that is not known.
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

/// What it costs to take the time of every part: medians of closed loops with all frames probed and with
/// none, in turns. A median would hide what few frames cost, so the cost of few is a share of this. A frame
/// takes about `frame_ms`.
ProbeCost probe_cost(const Bench& bench, const Load& load, double frame_ms);

/// How often anything in the process allocates while frames go to their results one at a time, without sinks.
/// `allocations` gives how often it did so far. The source's frames must be held in memory.
FrameAllocations frame_allocations(const Bench& bench, const Load& load, double frame_ms,
                                   std::uint64_t (*allocations)());

}  // namespace contorno::latency
