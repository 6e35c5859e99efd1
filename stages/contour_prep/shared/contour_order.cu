// ContourOrder on the device. The scan is CUB's, over the whole capacity, as in PointSelection.
#include <cub/device/device_scan.cuh>

#include "cuda/check.h"
#include "stages/contour_prep/shared/contour_order.cuh"

namespace contorno {

using contour_order_cuda::Job;

namespace {

/// Without memory it says how much it needs.
cudaError_t scan(void* memory, std::size_t& bytes, const Job& job, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(memory, bytes, job.lengths, job.out.offsets,
                                       static_cast<int>(job.in.format.contour_capacity) + 1, stream);
}

}  // namespace

void ContourOrder::plan(PlanContext& context, const ContoursFormat& format) {
  Job job;
  job.in.format = format;
  CONTORNO_CUDA_CHECK(scan(nullptr, scanning_, job, nullptr));
  const std::size_t contours = format.contour_capacity;
  library_ = context.temporary(scanning_, MemoryKind::Device);
  sorted_ = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
  lengths_ = context.temporary((contours + 1) * sizeof(unsigned), MemoryKind::Device);
  sources_ = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
  blocks_ = 4 * multiprocessors();
}

void ContourOrder::run(const RunContext& context, const ContoursView& in, const ContoursView& out,
                       unsigned limit) const {
  const Job job{.in = in,
                .out = out,
                .limit = limit,
                .sorted = sorted(context),
                .lengths = context.scratch<unsigned>(lengths_),
                .sources = context.scratch<unsigned>(sources_)};
  const auto start = [&](const char* name, auto* kernel) {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, contour_order_cuda::kThreads,
           0, context.stream, job);
  };
  start("clear_lengths", contour_order_cuda::clear_lengths);
  start("place_contours", contour_order_cuda::place_contours);
  std::size_t bytes = scanning_;
  CONTORNO_CUDA_CHECK(
      scan(context.scratch<std::byte>(library_), bytes, job, static_cast<cudaStream_t>(context.stream)));
  start("copy_points", contour_order_cuda::copy_points);
}

}  // namespace contorno
