// merge_close on the device. CUB sorts and scans the whole capacity, as the number of contours is known to
// the device alone.
#include <cub/device/device_scan.cuh>

#include "cuda/check.h"
#include "stages/contour_prep/merge_close/kernels.cuh"

namespace contorno {
namespace {

using merge_close_cuda::Job;
using merge_close_cuda::kThreads;

/// CUB's call; without memory it says how much it needs.
cudaError_t scan(void* memory, std::size_t& bytes, const Job& job, unsigned long long* places,
                 cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(memory, bytes, job.words, places,
                                       static_cast<int>(job.in.format.contour_capacity) + 1, stream);
}

class MergeCloseCuda final : public Stage {
 public:
  explicit MergeCloseCuda(const MergeCloseParams& params)
      : joins_(params.distance > 0), nearness_(params.distance) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const std::size_t contours = format.contour_capacity;
    Job job;
    job.in.format = format;
    CONTORNO_CUDA_CHECK(scan(nullptr, scanning_, job, nullptr, nullptr));
    library_ = context.temporary(scanning_, MemoryKind::Device);
    if (joins_) bins_.plan(context, format);
    sort_.plan(context, contours, 32);
    for (Scratch* one : {&parents_, &is_joined_, &keys_, &sorted_keys_, &contours_, &order_, &ranks_})
      *one = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
    for (Scratch* one : {&words_, &places_})
      *one = context.temporary((contours + 1) * sizeof(unsigned long long), MemoryKind::Device);
    blocks_ = 4 * multiprocessors();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const Job job = job_of(context);
    const auto start = [&](const char* name, auto* kernel) {
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kThreads, 0,
             context.stream, job);
    };
    start("make_sets", merge_close_cuda::make_sets);
    if (joins_) {
      bins_.run(context, job.in, nearness_);
      start("join_in_bins", merge_close_cuda::join_in_bins);
      start("join_bins", merge_close_cuda::join_bins);
    }
    start("find_sets", merge_close_cuda::find_sets);
    sort_.run(context, job.keys, job.sorted_keys, job.contours, job.order);
    start("measure_sets", merge_close_cuda::measure_sets);
    std::size_t bytes = scanning_;
    CONTORNO_CUDA_CHECK(scan(context.scratch<std::byte>(library_), bytes, job,
                             context.scratch<unsigned long long>(places_),
                             static_cast<cudaStream_t>(context.stream)));
    start("place_sets", merge_close_cuda::place_sets);
    start("copy_points", merge_close_cuda::copy_points);
  }

 private:
  Job job_of(const RunContext& context) const {
    Job job{.in = std::get<ContoursView>(context.inputs[0]),
            .out = std::get<ContoursView>(context.outputs[0]),
            .parents = context.scratch<unsigned>(parents_),
            .is_joined = context.scratch<unsigned>(is_joined_),
            .keys = context.scratch<unsigned>(keys_),
            .sorted_keys = context.scratch<unsigned>(sorted_keys_),
            .contours = context.scratch<unsigned>(contours_),
            .order = context.scratch<unsigned>(order_),
            .ranks = context.scratch<unsigned>(ranks_),
            .words = context.scratch<unsigned long long>(words_),
            .places = context.scratch<unsigned long long>(places_)};
    if (joins_) job.bins = bins_.view(context, nearness_);
    return job;
  }

  bool joins_;
  Nearness nearness_;
  DeviceBins bins_;
  PairSort sort_;
  unsigned blocks_ = 1;
  std::size_t scanning_ = 0;  // bytes
  Scratch library_, parents_, is_joined_, keys_, sorted_keys_, contours_, order_, ranks_, words_, places_;
};

}  // namespace

std::unique_ptr<Stage> make_merge_close_cuda(const ParamSet& params) {
  return std::make_unique<MergeCloseCuda>(params.as<MergeCloseParams>());
}

}  // namespace contorno
