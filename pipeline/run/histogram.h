// A latency histogram with bounded memory and bounded error: log-linear buckets, 128 to an octave, so that a
// percentile is at most 0.8 % off and minimum, maximum and count are exact. Values are nanoseconds. One
// writer; copy to read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace contorno {

class Histogram {
 public:
  /// Adds one value, `times` times.
  void record(std::int64_t nanoseconds, std::uint32_t times = 1);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  double min_us() const;
  double max_us() const;
  double mean_us() const;
  /// The smallest recorded bucket that at least `fraction` of all values do not exceed, in microseconds; 0
  /// when empty.
  double percentile_us(double fraction) const;

  /// Values that count as equal.
  struct Bucket {
    std::int64_t highest_ns;  ///< recording it again finds the same bucket
    std::uint32_t count;
  };
  /// The buckets that have values, in rising order.
  std::vector<Bucket> buckets() const;

 private:
  static constexpr int kSubBits = 7;
  static constexpr int kOctaves = 42;  // up to 2^48 ns, three days
  static int bucket_of(std::uint64_t value);
  static std::uint64_t highest_in(int bucket);

  std::array<std::uint32_t, static_cast<std::size_t>(kOctaves) << kSubBits> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t minimum_ = ~std::uint64_t{0};
  std::uint64_t maximum_ = 0;
};

}  // namespace contorno
