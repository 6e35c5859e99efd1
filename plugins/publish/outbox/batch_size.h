// How many messages a broker is given at once: as many as it has acknowledged in good time before. A line on
// which a large batch does not come through in the time-out of its route would otherwise carry the same batch
// again and again. Pure: the times are the caller's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace contorno::outbox {

class BatchSize {
 public:
  static constexpr std::size_t kMost = 64;

  explicit BatchSize(std::int64_t time_out_ns) : time_out_ns_(time_out_ns) {}

  std::size_t messages() const { return messages_; }
  /// `count` messages were acknowledged after `took_ns`. Where that is a whole batch, and two would take no
  /// more than half of the time-out, the next one is twice as large.
  void acknowledged(std::size_t count, std::int64_t took_ns) {
    if (count >= messages_ && took_ns <= time_out_ns_ / 4)
      messages_ = std::min(kMost, 2 * messages_);
    else if (took_ns > time_out_ns_ / 2)
      messages_ = std::max<std::size_t>(1, count / 2);
  }
  /// `count` messages were sent, and the connection failed after `took_ns`: what fails at once says nothing
  /// of the line.
  void failed(std::size_t count, std::int64_t took_ns) {
    if (took_ns > time_out_ns_ / 2) messages_ = std::max<std::size_t>(1, std::min(messages_, count) / 4);
  }

 private:
  std::int64_t time_out_ns_;
  std::size_t messages_ = kMost;
};

}  // namespace contorno::outbox
