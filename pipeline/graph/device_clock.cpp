#include "pipeline/graph/device_clock.h"

#include <utility>

#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

constexpr std::int64_t kTieAgain_ns = 1'000'000'000;
/// A reference point that took longer is off by more than the clocks drift apart in some seconds.
constexpr std::int64_t kLongestTie_ns = 100'000;
constexpr int kFirstTries = 8;

}  // namespace

DeviceClock::DeviceClock(const Stream& stream) : stream_(stream) {
  for (Anchor* anchor : {&first_, &last_, &next_}) anchor->event = Event::create();
  tie(next_);  // the first use of an event takes longer
  for (Anchor* anchor : {&first_, &last_})
    for (int i = 0; i < kFirstTries && tie(*anchor) > kLongestTie_ns;) ++i;
  next_try_ns_ = last_.host_ns + kTieAgain_ns;
}

/// The event passes between two times of the host. The result is how long that took.
std::int64_t DeviceClock::tie(Anchor& anchor) const {
  const std::int64_t before = now_ns();
  anchor.event.record(stream_.get());
  anchor.event.synchronize();
  const std::int64_t took = now_ns() - before;
  anchor.host_ns = before + took / 2;
  return took;
}

std::int64_t DeviceClock::host_ns(const Event& event) const {
  return last_.host_ns + static_cast<std::int64_t>(Event::elapsed_us(last_.event, event) * host_ns_per_us_);
}

void DeviceClock::follow() {
  const std::int64_t now = now_ns();
  if (now < next_try_ns_) return;
  next_try_ns_ = now + kTieAgain_ns;
  if (tie(next_) > kLongestTie_ns) return;
  std::swap(last_, next_);
  // From the very first on: the longer the time, the less do the microseconds of either end count.
  host_ns_per_us_ =
      static_cast<double>(last_.host_ns - first_.host_ns) / Event::elapsed_us(first_.event, last_.event);
}

}  // namespace contorno
