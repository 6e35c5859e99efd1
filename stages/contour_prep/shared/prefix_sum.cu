#include "stages/contour_prep/shared/prefix_sum.h"

#include <cub/device/device_scan.cuh>
#include <limits>
#include <string>

#include "base/error.h"
#include "cuda/check.h"

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
  unsigned long long* words = nullptr;
  CONTORNO_CUDA_CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes_, words, words, count_));
  library_ = context.temporary(bytes_, MemoryKind::Device);
}

void PrefixSum::run(const RunContext& context, unsigned long long* words) const {
  std::size_t bytes = bytes_;
  CONTORNO_CUDA_CHECK(cub::DeviceScan::ExclusiveSum(context.scratch<std::byte>(library_), bytes, words, words,
                                                    count_, static_cast<cudaStream_t>(context.stream)));
}

}  // namespace contorno
