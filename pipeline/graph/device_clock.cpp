#include "pipeline/graph/device_clock.h"

#include <utility>

#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

constexpr std::int64_t kTieAgain_ns = 1'000'000'000;

}  // namespace

DeviceClock::DeviceClock(const Stream& stream) : stream_(&stream) {
  for (Anchor* anchor : {&first_, &last_, &next_}) anchor->event = Event::create();
  // The first use of an event takes longer.
  tie(first_);
  tie(first_);
  tie(last_);
}

/// The event passes between the two times of the host, some microseconds apart.
void DeviceClock::tie(Anchor& anchor) const {
  const std::int64_t before = now_ns();
  anchor.event.record(stream_->get());
  anchor.event.synchronize();
  anchor.host_ns = before + (now_ns() - before) / 2;
}

std::int64_t DeviceClock::host_ns(const Event& event) const {
  return last_.host_ns + static_cast<std::int64_t>(Event::elapsed_us(last_.event, event) * host_ns_per_us_);
}

void DeviceClock::follow() {
  if (now_ns() - last_.host_ns < kTieAgain_ns) return;
  tie(next_);
  std::swap(last_, next_);
  // From the very first on: the longer the time, the less do the microseconds of either end count.
  host_ns_per_us_ =
      static_cast<double>(last_.host_ns - first_.host_ns) / Event::elapsed_us(first_.event, last_.event);
}

}  // namespace contorno
