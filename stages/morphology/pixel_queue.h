// The queue of reconstruction on the CPU: the pixels that may still raise their neighbours. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace contorno {

/// A priority queue of pixels in buckets by value, high values first: a pixel that the highest pixels have
/// raised is not raised again by lower ones, unless their values share a bucket. A bucket is first in, first
/// out, so that its pixels are not raised again and again. Seeds are added before the first pop. A seed may
/// rise while it waits; it is then pushed like every pixel that rises. The memory is the caller's.
template <class W>
class PixelQueue {
 public:
  /// `values` are the plane's pixels, which change while the queue is used, but stay between their least and
  /// greatest value of now. The other arrays have an entry a pixel: `next` and `next_seed` may hold anything;
  /// `waiting` is all 0, and all 0 again when the queue is empty.
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
  /// Adds a pixel that was just raised, to a value not above that of the pixel popped last.
  void push(std::uint32_t pixel) {
    if (waiting_[pixel] != 0) return;  // it waits already, in the same bucket
    waiting_[pixel] = 1;
    const std::size_t bucket = bucket_of(pixel);
    (first_[bucket] == kNone ? first_[bucket] : next_[last_[bucket]]) = pixel;
    last_[bucket] = pixel;
    next_[pixel] = kNone;
  }
  /// Takes out a pixel of the highest bucket. False when the queue is empty; it must not be used after that.
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
