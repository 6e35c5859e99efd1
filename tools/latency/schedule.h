// When the frames of a measurement are due. An open loop has its schedule before the first frame: a pipeline
// that is slow shifts nothing in it, so that a stall counts for every frame that was due meanwhile
// (coordinated omission: G. Tene, "How not to measure latency", 2013).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contorno::latency {

/// Fixed: frame k is due after k / rate. Poisson: gaps are independent and exponential, with mean 1 / rate.
/// Burst: `burst` frames at once, each time after burst / rate.
enum class ArrivalKind : std::uint8_t { Fixed, Poisson, Burst };

struct Arrival {
  ArrivalKind kind = ArrivalKind::Fixed;
  std::int64_t burst = 1;  ///< frames of a burst, with ArrivalKind::Burst; at least 2
};

/// "fixed", "poisson" or "burst:N". Throws Error(Usage) for another text.
Arrival arrival_from(const std::string& text);
std::string text_of(const Arrival& arrival);

/// The due times of `frames` frames at `rate` frames a second, in ns from that of the first, which is 0; they
/// never decrease. `rate` is above 0. With one C library the same `seed` gives the same times.
std::vector<std::int64_t> schedule(const Arrival& arrival, double rate, std::size_t frames,
                                   std::uint64_t seed);

}  // namespace contorno::latency
