// largest_first on the device. CUB sorts: the number of contours is known to the device alone, so it works on
// the whole capacity, with memory that is planned and without waiting.
#include <cub/device/device_radix_sort.cuh>

#include "cuda/check.h"
#include "stages/contour_prep/largest_first/kernels.cuh"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {
namespace {

using largest_first_cuda::Job;
using largest_first_cuda::kThreads;

/// Without memory it says how much it needs.
cudaError_t sort(void* memory, std::size_t& bytes, const Job& job, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(memory, bytes, job.keys, job.sorted_keys, job.contours, job.sorted,
                                         static_cast<int>(job.in.format.contour_capacity), 0, 64, stream);
}

class LargestFirstCuda final : public Stage {
 public:
  explicit LargestFirstCuda(const LargestFirstParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ContoursFormat& format = checked_contours(context);
    Job job;
    job.in.format = format;
    CONTORNO_CUDA_CHECK(sort(nullptr, sorting_, job, nullptr));
    library_ = context.temporary(sorting_, MemoryKind::Device);
    const std::size_t contours = format.contour_capacity;
    keys_ = context.temporary(contours * sizeof(*job.keys), MemoryKind::Device);
    sorted_keys_ = context.temporary(contours * sizeof(*job.sorted_keys), MemoryKind::Device);
    contours_ = context.temporary(contours * sizeof(*job.contours), MemoryKind::Device);
    order_.plan(context, format);
    blocks_ = 4 * multiprocessors();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const Job job = job_of(context);
    auto* const stream = static_cast<cudaStream_t>(context.stream);
    auto* const memory = context.scratch<std::byte>(library_);
    const auto start = [&](const char* name, auto* kernel) {
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kThreads, 0, stream, job);
    };
    start("clear_sums", largest_first_cuda::clear_sums);
    if (params_.by != ContourSize::Points) start("add_segments", largest_first_cuda::add_segments);
    start("make_keys", largest_first_cuda::make_keys);
    std::size_t bytes = sorting_;
    CONTORNO_CUDA_CHECK(sort(memory, bytes, job, stream));
    order_.run(context, job.in, std::get<ContoursView>(context.outputs[0]),
               params_.limit > 0 ? static_cast<unsigned>(params_.limit) : ~0U);
  }

  std::optional<Scratch> selection() const override { return order_.sources(); }

 private:
  Job job_of(const RunContext& context) const {
    return {.in = std::get<ContoursView>(context.inputs[0]),
            .by = params_.by,
            .keys = context.scratch<unsigned long long>(keys_),
            .sorted_keys = context.scratch<unsigned long long>(sorted_keys_),
            .contours = context.scratch<unsigned>(contours_),
            .sorted = order_.sorted(context)};
  }

  LargestFirstParams params_;
  unsigned blocks_ = 1;
  std::size_t sorting_ = 0;  // bytes
  ContourOrder order_;
  Scratch library_, keys_, sorted_keys_, contours_;
};

}  // namespace

std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params) {
  return std::make_unique<LargestFirstCuda>(params.as<LargestFirstParams>());
}

}  // namespace contorno
