// Morphology on the device: a row of launches a frame, and one more for reconstructions.
#include "stages/morphology/stage.h"

#include <optional>

#include "cuda/error.h"
#include "cuda/stream.h"
#include "stages/morphology/device.cuh"
#include "stages/morphology/params.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace {

using namespace morphology_cuda;

/// Enqueues kernels on the frame's stream.
struct StreamLauncher {
  void* stream;

  template <class Kernel, class Job>
  void operator()(const char* name, Kernel* kernel, unsigned blocks, unsigned threads, std::size_t shared,
                  const Job& job) const {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks, threads, shared, stream, job);
  }
  template <class Kernel, class Job>
  void together(const char* name, Kernel* kernel, unsigned blocks, unsigned threads, const Job& job) const {
    launch(name, kernel, LaunchKind::Cooperative, LaunchOrder::AfterPrevious, blocks, threads, 0, stream,
           job);
  }
};

/// Lets every kernel of the row have the shared memory that it will ask for.
struct AllowingLauncher {
  template <class Kernel, class Job>
  void operator()(const char* name, Kernel* kernel, unsigned, unsigned, std::size_t shared,
                  const Job&) const {
    if (shared > 48 << 10) allow_shared(name, kernel, shared);
  }
  template <class Kernel, class Job>
  void together(const char*, Kernel*, unsigned, unsigned, const Job&) const {}
};

/// How many blocks of a reconstruction run at the same time.
template <class S>
unsigned blocks_together() {
  int dilation = 0;
  int erosion = 0;
  CONTORNO_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &dilation, reconstruct_tiles<S, ReconstructionMethod::Dilation>, kReconstructThreads, 0));
  CONTORNO_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &erosion, reconstruct_tiles<S, ReconstructionMethod::Erosion>, kReconstructThreads, 0));
  return multiprocessors() * static_cast<unsigned>(std::max(1, std::min(dilation, erosion)));
}

/// The state of a reconstruction and how it is launched.
class DeviceReconstruction {
 public:
  void plan(PlanContext& context, const ImageFormat& format) {
    state_bytes_ = reconstruction_state_bytes(format);
    state_ = context.scratch(state_bytes_, MemoryKind::Device);
    with_morphology_sample(format.type, false,
                           [&]<class Rule>() { blocks_ = blocks_together<typename Rule::Stored>(); });
  }
  void run(const RunContext& context, ReconstructionMethod method, const ImageView& marker,
           const ImageView& mask, const MorphologyOptions& options) const {
    std::byte* state = context.scratch<std::byte>(state_);
    fill_async(state, 0, state_bytes_, context.stream);
    run_reconstruction(method, marker, mask, context.image_out(0), options, state, blocks_,
                       StreamLauncher{context.stream});
  }

 private:
  Scratch state_;
  std::size_t state_bytes_ = 0;
  unsigned blocks_ = 1;
};

class PlannedCuda final : public Stage {
 public:
  using MakePlan = std::function<MorphologyPlan(const ImageFormat&)>;
  explicit PlannedCuda(MakePlan make_plan) : make_plan_(std::move(make_plan)) {}

  void plan(PlanContext& context) override {
    const ImageFormat& format = context.image(0);
    context.set_output(0, format);
    device_.emplace(make_plan_(format), most_shared());
    runs_ = device_table(device_->runs());
    terms_ = device_table(device_->terms());
    scratch_ = context.scratch(std::max<std::size_t>(device_->scratch_bytes(), 1), MemoryKind::Device);
    if (device_->plan().reconstruction) reconstruction_.plan(context, format);
    const ImageView nowhere = packed_view(nullptr, format);
    device_->run(nowhere, nowhere, nullptr, nullptr, nullptr, AllowingLauncher{});
  }

  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    device_->run(in, out, table_at<TileRuns>(runs_), table_at<DeviceTerm>(terms_),
                 context.scratch<std::byte>(scratch_), StreamLauncher{context.stream});
    if (device_->plan().reconstruction)
      reconstruction_.run(context, *device_->plan().reconstruction, out, in, device_->plan().options);
  }

 private:
  MakePlan make_plan_;
  std::optional<DevicePlan> device_;
  Block runs_, terms_;
  Scratch scratch_;
  DeviceReconstruction reconstruction_;
};

class ReconstructionCuda final : public Stage {
 public:
  explicit ReconstructionCuda(const ParamSet& params) : params_(params.as<ReconstructionParams>()) {}

  void plan(PlanContext& context) override {
    check_reconstruction_formats(context.image(0), context.image(1));
    context.set_output(0, context.image(1));
    reconstruction_.plan(context, context.image(1));
  }
  void run(const RunContext& context) const override {
    reconstruction_.run(context, params_.method, context.image_in(0), context.image_in(1),
                        options_of(params_));
  }

 private:
  ReconstructionParams params_;
  DeviceReconstruction reconstruction_;
};

}  // namespace

std::unique_ptr<Stage> make_morphology_cuda(const ParamSet& set) {
  const auto& params = set.as<MorphologyParams>();
  return std::make_unique<PlannedCuda>([operation = params.operation, element = element_of(params),
                                        options = options_of(params)](const ImageFormat& format) {
    return plan_morphology(operation, element, options, format);
  });
}

std::unique_ptr<Stage> make_hit_or_miss_cuda(const ParamSet& set) {
  const auto& params = set.as<HitOrMissParams>();
  return std::make_unique<PlannedCuda>(
      [elements = elements_of(params), options = options_of(params)](const ImageFormat& format) {
        return plan_hit_or_miss(elements.hit, elements.miss, options, format);
      });
}

std::unique_ptr<Stage> make_reconstruction_cuda(const ParamSet& params) {
  return std::make_unique<ReconstructionCuda>(params);
}

}  // namespace contorno
