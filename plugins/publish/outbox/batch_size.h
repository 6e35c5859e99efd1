// How many messages a broker is given at once: at first as many as there may be, and after a batch that was
// slow or timed out fewer, until batches come through in good time. A line on which a large batch does not
// come through in the time-out of its route (one broker that results are published to) would otherwise carry
// the same batch again and again. Pure: the times are the caller's, in nanoseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace contorno::outbox {

class BatchSize {
 public:
  static constexpr std::size_t kMost = 64;

  /// `time_out_ns` is that of the route, above 0.
  explicit BatchSize(std::int64_t time_out_ns) : time_out_ns_(time_out_ns) {}

  std::size_t messages() const { return messages_; }
  /// `count` of at most messages() were acknowledged after `took_ns`. A whole batch that took at most a
  /// quarter of the time-out doubles the next one, so that it would take half; one that took more than half
  /// halves it.
  void acknowledged(std::size_t count, std::int64_t took_ns) {
    if (count >= messages_ && took_ns <= time_out_ns_ / 4)
      messages_ = std::min(kMost, 2 * messages_);
    else
      shrink_if_slow(count, took_ns);
  }
  /// `count` of at most messages() were sent, and the connection failed after `took_ns`. What fails within
  /// half of the time-out says nothing of the line.
  void failed(std::size_t count, std::int64_t took_ns) { shrink_if_slow(count, took_ns); }

 private:
  void shrink_if_slow(std::size_t count, std::int64_t took_ns) {
    if (took_ns > time_out_ns_ / 2) messages_ = std::max<std::size_t>(1, std::min(messages_, count) / 2);
  }

  std::int64_t time_out_ns_;
  std::size_t messages_ = kMost;
};

/// How many of `count` messages, from the first on, have at most `most_bytes` together: at least one, if
/// there is one. size_of(i) is the bytes that number i takes.
template <class SizeOf>
std::size_t count_within(std::size_t count, std::size_t most_bytes, const SizeOf& size_of) {
  std::size_t bytes = 0, fitting = 0;
  for (; fitting < count; ++fitting)
    if ((bytes += size_of(fitting)) > most_bytes && fitting > 0) break;
  return fitting;
}

}  // namespace contorno::outbox
