// The clock of a CUDA device beside the host's, so that times of both stand on one axis.
#pragma once

#include <cstdint>

#include "cuda/stream.h"

namespace contorno {

/// Converts times of events to the host's clock. The clocks drift apart by tens of microseconds a second, so
/// follow() takes a new reference point from time to time, and the rate of the device's clock since the first
/// one; host_ns() counts from the latest point at that rate. Borrows a stream, which must outlive it; used by
/// one thread at a time.
class DeviceClock {
 public:
  /// Takes the first reference point. Waits for the stream. Throws Error(Internal) when the device failed, as
  /// all functions here.
  explicit DeviceClock(const Stream& stream);

  /// The host's now_ns() when `event` passed; it must have passed. Usually within 10 us; where other work
  /// keeps the device busy so that every reference point takes long, within half of what the last one took,
  /// and the drift since.
  std::int64_t host_ns(const Event& event) const;
  /// To be called after each frame. At most once a second records an event on the stream, which should be
  /// idle, and waits for it, usually some 10 us. A reference point that took over 100 us is not used: the one
  /// before stays.
  void follow();

 private:
  struct Anchor {
    Event event;
    std::int64_t host_ns = 0;
  };
  std::int64_t tie(Anchor& anchor) const;

  const Stream& stream_;
  Anchor first_, last_, next_;
  std::int64_t next_try_ns_ = 0;
  double host_ns_per_us_ = 1e3;  ///< host nanoseconds in a microsecond of the device
};

}  // namespace contorno
