// The clock of a CUDA device beside the host's, so that times of both stand on one axis.
#pragma once

#include <cstdint>

#include "cuda/stream.h"

namespace contorno {

/// Converts times of events to the host's clock. The two clocks drift apart by some tens of microseconds a
/// second, so they are tied together again and again, and what they drifted by in between is taken off times
/// that come later. Borrows a stream; used by one thread at a time.
class DeviceClock {
 public:
  /// An empty one, for graphs on the host.
  DeviceClock() = default;
  /// Ties the clocks together. Waits for the stream.
  explicit DeviceClock(const Stream& stream);

  /// The host's now_ns() when `event` was recorded; it has passed. Within about 10 us.
  std::int64_t host_ns(const Event& event) const;
  /// Ties the clocks together again where that was last tried more than a second ago. Then it waits for the
  /// stream, which should be idle: that takes some 10 us. Where it takes longer, because the device or the
  /// processor is busy with other work, nobody knows when the event passed, and the tie before it stays.
  void follow();

 private:
  struct Anchor {
    Event event;
    std::int64_t host_ns = 0;
  };
  std::int64_t tie(Anchor& anchor) const;

  const Stream* stream_ = nullptr;
  Anchor first_, last_, next_;
  std::int64_t next_try_ns_ = 0;
  double host_ns_per_us_ = 1e3;  ///< of the device's microseconds
};

}  // namespace contorno
