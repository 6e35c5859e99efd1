// The queue of reconstructions on the CPU: pixels that may raise their neighbours. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace contorno {

/// Pixels of a plane, none twice, high values first: what the highest ones raise is not raised again. Any
/// order gives the same result, so values are sorted roughly, into buckets that are lists. Owns no plane.
template <class W>
class PixelQueue {
 public:
  /// `values` has the plane's least and greatest value for as long as the queue is used. `next` may hold
  /// anything; `waiting` is 0 but for pixels that are given to push_marked.
  PixelQueue(std::span<const W> values, std::uint32_t* next, std::uint8_t* waiting)
      : next_(next), waiting_(waiting) {
    W low = std::numeric_limits<W>::max(), high = std::numeric_limits<W>::min();
    for (const W value : values) low = std::min(low, value), high = std::max(high, value);
    low_ = low;
    while ((std::int64_t{high} - low) >> shift_ >= kBuckets) ++shift_;
    heads_.fill(kNone);
  }

  void push(std::uint32_t pixel, W value) {
    if (waiting_[pixel] != 0) return;  // and stays where it is, although it may have risen
    waiting_[pixel] = 1;
    push_marked(pixel, value);
  }
  void push_marked(std::uint32_t pixel, W value) {
    const auto bucket = static_cast<int>((std::int64_t{value} - low_) >> shift_);
    std::uint32_t& head = heads_[static_cast<std::size_t>(std::min(bucket, current_))];
    next_[pixel] = head;
    head = pixel;
  }
  /// False when it is empty; it is not used again then.
  bool pop(std::uint32_t* pixel) {
    while (heads_[static_cast<std::size_t>(current_)] == kNone)
      if (--current_ < 0) return false;
    std::uint32_t& head = heads_[static_cast<std::size_t>(current_)];
    *pixel = head;
    head = next_[head];
    waiting_[*pixel] = 0;
    return true;
  }

 private:
  static constexpr int kBuckets = 4096;
  static constexpr std::uint32_t kNone = ~0U;

  std::uint32_t* next_;
  std::uint8_t* waiting_;
  std::array<std::uint32_t, kBuckets> heads_;
  std::int64_t low_ = 0;
  int shift_ = 0;
  int current_ = kBuckets - 1;  ///< all above it are empty
};

}  // namespace contorno
