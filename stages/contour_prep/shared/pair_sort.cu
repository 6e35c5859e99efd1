#include "stages/contour_prep/shared/pair_sort.h"

#include <cub/device/device_radix_sort.cuh>

#include "cuda/check.h"

namespace contorno {

void PairSort::plan(PlanContext& context, std::size_t count, int bits) {
  count_ = count, bits_ = bits;
  const unsigned* from = nullptr;
  unsigned* to = nullptr;
  CONTORNO_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes_, from, to, from, to,
                                                      static_cast<int>(count_), 0, bits_));
  library_ = context.temporary(bytes_, MemoryKind::Device);
}

void PairSort::run(const RunContext& context, const unsigned* keys, unsigned* sorted_keys,
                   const unsigned* values, unsigned* sorted_values) const {
  std::size_t bytes = bytes_;
  CONTORNO_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      context.scratch<std::byte>(library_), bytes, keys, sorted_keys, values, sorted_values,
      static_cast<int>(count_), 0, bits_, static_cast<cudaStream_t>(context.stream)));
}

}  // namespace contorno
