#include "pipeline/run/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace contorno {

// Values below 2^kSubBits have a bucket each; above, every octave is cut into 2^kSubBits equal parts.
int Histogram::bucket_of(std::uint64_t value) {
  const int log = static_cast<int>(std::bit_width(value | 1)) - 1;
  if (log < kSubBits) return static_cast<int>(value);
  const int octave = log - kSubBits + 1;
  const int part = static_cast<int>((value >> (log - kSubBits)) & ((1U << kSubBits) - 1));
  return std::min(octave, kOctaves - 1) * (1 << kSubBits) + part;
}

std::uint64_t Histogram::highest_in(int bucket) {
  const int octave = bucket >> kSubBits;
  const auto part = static_cast<std::uint64_t>(bucket & ((1 << kSubBits) - 1));
  if (octave == 0) return part;
  const int shift = octave - 1;
  return (((std::uint64_t{1} << kSubBits) + part + 1) << shift) - 1;
}

void Histogram::record(std::int64_t nanoseconds, std::uint32_t times) {
  if (times == 0) return;
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
  buckets_[static_cast<std::size_t>(bucket_of(value))] += times;
  count_ += times;
  sum_ += value * times;
  minimum_ = std::min(minimum_, value);
  maximum_ = std::max(maximum_, value);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  minimum_ = std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
}

double Histogram::min_us() const {
  return count_ == 0 ? 0 : static_cast<double>(minimum_) * 1e-3;
}
double Histogram::max_us() const {
  return static_cast<double>(maximum_) * 1e-3;
}
double Histogram::mean_us() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_) * 1e-3;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> filled;
  for (int bucket = 0; bucket < static_cast<int>(buckets_.size()); ++bucket)
    if (const std::uint32_t count = buckets_[static_cast<std::size_t>(bucket)]; count > 0)
      filled.push_back({.highest_ns = static_cast<std::int64_t>(highest_in(bucket)), .count = count});
  return filled;
}

double Histogram::percentile_us(double fraction) const {
  if (count_ == 0) return 0;
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_) - 1e-9)));
  std::uint64_t seen = 0;
  for (int bucket = 0; bucket < static_cast<int>(buckets_.size()); ++bucket) {
    seen += buckets_[static_cast<std::size_t>(bucket)];
    if (seen >= rank) return static_cast<double>(std::clamp(highest_in(bucket), minimum_, maximum_)) * 1e-3;
  }
  return max_us();
}

}  // namespace contorno
