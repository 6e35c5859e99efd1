// The queue of reconstructions on the CPU: pixels that may raise their neighbours. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace contorno {

/// Pixels by their value, high ones first: what the highest ones raise is never raised again by others, but
/// for values so close that they share a bucket. Within a bucket it is first in, first out, so that even
/// those are not raised again and again. Seeds are given before the first pop; they may rise while they
/// wait, and are then pushed like every pixel that rises. Owns no plane.
template <class W>
class PixelQueue {
 public:
  /// `values` has the plane's least and greatest value for as long as the queue is used. `next` and
  /// `next_seed` may hold anything; `waiting` is 0, and is 0 again when the queue is empty.
  PixelQueue(std::span<const W> values, std::uint32_t* next, std::uint32_t* next_seed, std::uint8_t* waiting)
      : values_(values.data()), next_(next), next_seed_(next_seed), waiting_(waiting) {
    W low = std::numeric_limits<W>::max(), high = std::numeric_limits<W>::min();
    for (const W value : values) low = std::min(low, value), high = std::max(high, value);
    low_ = low;
    while ((std::int64_t{high} - low) >> shift_ >= kBuckets) ++shift_;
    first_.fill(kNone), seeds_.fill(kNone);
  }

  void add_seed(std::uint32_t pixel) {
    std::uint32_t& head = seeds_[bucket_of(pixel)];
    next_seed_[pixel] = head;
    head = pixel;
  }
  /// A pixel that was just raised, not above the one that was popped last.
  void push(std::uint32_t pixel) {
    if (waiting_[pixel] != 0) return;  // then it has risen within its bucket
    waiting_[pixel] = 1;
    const std::size_t bucket = bucket_of(pixel);
    (first_[bucket] == kNone ? first_[bucket] : next_[last_[bucket]]) = pixel;
    last_[bucket] = pixel;
    next_[pixel] = kNone;
  }
  /// False when it is empty; it is not used again then.
  bool pop(std::uint32_t* pixel) {
    for (; current_ >= 0; --current_) {
      const auto bucket = static_cast<std::size_t>(current_);
      if (first_[bucket] != kNone) {
        *pixel = first_[bucket];
        first_[bucket] = next_[*pixel];
        waiting_[*pixel] = 0;
        return true;
      }
      while (seeds_[bucket] != kNone) {
        *pixel = seeds_[bucket];
        seeds_[bucket] = next_seed_[*pixel];
        if (bucket_of(*pixel) == bucket) return true;
      }
    }
    return false;
  }

 private:
  static constexpr int kBuckets = 4096;
  static constexpr std::uint32_t kNone = ~0U;

  std::size_t bucket_of(std::uint32_t pixel) const {
    return static_cast<std::size_t>((std::int64_t{values_[pixel]} - low_) >> shift_);
  }

  const W* values_;
  std::uint32_t *next_, *next_seed_;
  std::uint8_t* waiting_;
  std::array<std::uint32_t, kBuckets> first_, last_, seeds_;
  std::int64_t low_ = 0;
  int shift_ = 0;
  int current_ = kBuckets - 1;  ///< all above it are empty
};

}  // namespace contorno
