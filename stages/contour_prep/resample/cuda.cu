// resample on the device. The scans are CUB's, with planned memory and without waiting.
#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "cuda/check.h"
#include "stages/contour_prep/resample/kernels.cuh"

namespace contorno {
namespace {

using resample_cuda::Job;
using resample_cuda::kThreads;

/// CUB's two calls; without memory they say how much they need.
cudaError_t add_lengths(void* memory, std::size_t& bytes, const Job& job, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(memory, bytes, job.lengths, job.lengths,
                                       static_cast<int>(job.in.format.point_capacity), stream);
}
cudaError_t add_points(void* memory, std::size_t& bytes, const Job& job, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(memory, bytes, job.stored, job.offsets,
                                       static_cast<int>(job.in.format.contour_capacity) + 1, stream);
}

class ResampleCuda final : public Stage {
 public:
  explicit ResampleCuda(const ResampleParams& params) : params_(params), steps_(params) {}

  void plan(PlanContext& context) override {
    check_resample(params_);
    const auto& in = std::get<ContoursFormat>(context.input(0));
    Job job;
    job.in.format = in;
    CONTORNO_CUDA_CHECK(add_lengths(nullptr, length_bytes_, job, nullptr));
    CONTORNO_CUDA_CHECK(add_points(nullptr, point_bytes_, job, nullptr));
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    library_ = take(std::max(length_bytes_, point_bytes_));
    lengths_ = take(in.point_capacity * sizeof(*job.lengths));
    stored_ = take((in.contour_capacity + 1) * sizeof(*job.stored));
    offsets_ = take((in.contour_capacity + 1) * sizeof(*job.offsets));
    needed_ = context.scratch(sizeof(*job.needed), MemoryKind::Pinned);
    blocks_ = 4 * multiprocessors();
    format_ = resampled_format(context, params_);
    context.set_output(0, format_);
  }

  void run(const RunContext& context) const override {
    const Job job{.in = std::get<ContoursView>(context.inputs[0]),
                  .out = std::get<ContoursView>(context.outputs[0]),
                  .steps = steps_,
                  .lengths = context.scratch<unsigned long long>(lengths_),
                  .stored = context.scratch<unsigned long long>(stored_),
                  .offsets = context.scratch<unsigned long long>(offsets_),
                  .needed = context.scratch<unsigned long long>(needed_)};
    auto* const stream = static_cast<cudaStream_t>(context.stream);
    auto* const memory = context.scratch<std::byte>(library_);
    const auto start = [&](const char* name, auto* kernel) {
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kThreads, 0, stream, job);
    };
    start("measure_segments", resample_cuda::measure_segments);
    std::size_t bytes = length_bytes_;
    CONTORNO_CUDA_CHECK(add_lengths(memory, bytes, job, stream));
    start("count_points", resample_cuda::count_points);
    bytes = point_bytes_;
    CONTORNO_CUDA_CHECK(add_points(memory, bytes, job, stream));
    start("place_contours", resample_cuda::place_contours);
    start("write_points", resample_cuda::write_points);
  }

  std::uint64_t overflow(const RunContext& context) const override {
    return resample_capacity_needed(*context.scratch<unsigned long long>(needed_), format_.point_capacity);
  }

 private:
  ResampleParams params_;
  ResampleSteps steps_;
  ContoursFormat format_;
  unsigned blocks_ = 1;
  std::size_t length_bytes_ = 0, point_bytes_ = 0;  // that CUB works in
  Scratch library_, lengths_, stored_, offsets_, needed_;
};

}  // namespace

std::unique_ptr<Stage> make_resample_cuda(const ParamSet& params) {
  return std::make_unique<ResampleCuda>(params.as<ResampleParams>());
}

}  // namespace contorno
