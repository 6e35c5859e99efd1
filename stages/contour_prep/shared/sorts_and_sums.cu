#include "stages/contour_prep/shared/sorts_and_sums.h"

#include <thrust/scan.h>

#include <cub/device/device_radix_sort.cuh>

#include <limits>
#include <string>

#include "base/error.h"
#include "cuda/check.h"
#include "cuda/thrust.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/rank.cuh"

namespace contorno {

int library_count(std::size_t count) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (count > kMost)
    throw Error(ExitCode::BadConfig, "contours with room for " + std::to_string(count) +
                                         " points were given, allowed on CUDA up to " +
                                         std::to_string(kMost) + "; use the CPU backend");
  return static_cast<int>(count);
}

void PrefixSum::plan(PlanContext& context, std::size_t count) {
  count_ = library_count(count);
  unsigned long long* const words = nullptr;
  bytes_ = thrust_bytes("prefix_sum", [&](const auto& policy) {
    thrust::exclusive_scan(policy, words, words + count_, words, 0ULL);
  });
  library_ = context.temporary(bytes_, MemoryKind::Device);
}

void PrefixSum::run(const RunContext& context, unsigned long long* words, std::size_t) const {
  with_thrust(
      "prefix_sum", context.stream, {context.scratch<std::byte>(library_), bytes_},
      [&](const auto& policy) { thrust::exclusive_scan(policy, words, words + count_, words, 0ULL); });
}

template <class Key>
void PairSort<Key>::plan(PlanContext& context, std::size_t count, int bits) {
  count_ = library_count(count), bits_ = bits;
  launch_.plan(std::uint64_t{kArrayThreads / kWarpLanes} * count);
  if (count_ <= kMostRanked) return;
  const Key* keys = nullptr;
  Key* sorted_keys = nullptr;
  const unsigned* values = nullptr;
  unsigned* sorted_values = nullptr;
  CONTORNO_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes_, keys, sorted_keys, values,
                                                      sorted_values, count_, 0, bits_));
  library_ = context.temporary(bytes_, MemoryKind::Device);
}

template <class Key>
unsigned PairSort<Key>::run(const RunContext& context, const PairArrays<Key>& arrays, std::size_t,
                            Key) const {
  const auto& [keys, sorted_keys, values, sorted_values] = arrays;
  const auto count = static_cast<unsigned>(count_);
  std::size_t bytes = bytes_;
  if (count_ <= kMostRanked)
    launch_.with_shared(sizeof(RankShared<Key>), "rank_pairs", rank_pairs<Key>, context.stream, keys,
                        sorted_keys, values, sorted_values, count);
  else
    CONTORNO_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(context.scratch<std::byte>(library_), bytes, keys,
                                                        sorted_keys, values, sorted_values, count_, 0, bits_,
                                                        static_cast<cudaStream_t>(context.stream)));
  return count;
}

template class PairSort<unsigned>;
template class PairSort<unsigned long long>;

void KeySort::plan(PlanContext& context, std::size_t count, int bits) {
  count_ = library_count(count), bits_ = bits;
  const unsigned long long* keys = nullptr;
  unsigned long long* sorted = nullptr;
  CONTORNO_CUDA_CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes_, keys, sorted, count_, 0, bits_));
  library_ = context.temporary(bytes_, MemoryKind::Device);
  sorted_ = context.temporary(count * sizeof(unsigned long long), MemoryKind::Device);
}

void KeySort::clear(const RunContext& context, unsigned long long* keys) const {
  CONTORNO_CUDA_CHECK(cudaMemsetAsync(keys, 0xFF, static_cast<std::size_t>(count_) * sizeof(*keys),
                                      static_cast<cudaStream_t>(context.stream)));
}

const unsigned long long* KeySort::run(const RunContext& context, unsigned long long* keys,
                                       const unsigned long long*, const ContoursView&) const {
  auto* const sorted = context.scratch<unsigned long long>(sorted_);
  std::size_t bytes = bytes_;
  CONTORNO_CUDA_CHECK(cub::DeviceRadixSort::SortKeys(
      context.scratch<std::byte>(library_), bytes, static_cast<const unsigned long long*>(keys), sorted,
      count_, 0, bits_, static_cast<cudaStream_t>(context.stream)));
  return sorted;
}

}  // namespace contorno
