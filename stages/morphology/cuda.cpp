// Morphology on the device: a row of launches a frame, and one more for reconstructions.
#include "stages/morphology/stage.h"

#include <optional>

#include "cuda/stream.h"
#include "stages/morphology/params.h"
#include "stages/morphology/sample_kernels.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace {

using namespace morphology_cuda;

/// The state of a reconstruction and how it is launched.
class DeviceReconstruction {
 public:
  void plan(PlanContext& context, const ImageFormat& format) {
    state_bytes_ = reconstruction_state_bytes(format);
    state_ = context.temporary(state_bytes_, MemoryKind::Device);
    blocks_ =
        with_sample_type(format.type, []<class S>() { return SampleKernels<S>::reconstruction_blocks(); });
  }
  void run(const RunContext& context, ReconstructionMethod method, const ImageView& marker,
           const ImageView& mask, const MorphologyOptions& options) const {
    std::byte* state = context.scratch<std::byte>(state_);
    fill_async(state, 0, state_bytes_, context.stream);
    const ReconstructionRun images{method, marker, mask, context.image_out(0), options, state, blocks_};
    with_sample_type(mask.format.type,
                     [&]<class S>() { SampleKernels<S>::reconstruct(images, context.stream); });
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
    device_.emplace(make_plan_(format),
                    with_sample_type(format.type, []<class S>() { return SampleKernels<S>::most_shared(); }));
    runs_ = device_table(device_->runs());
    terms_ = device_table(device_->terms());
    scratch_ = context.temporary(std::max<std::size_t>(device_->scratch_bytes(), 1), MemoryKind::Device);
    if (device_->plan().reconstruction) reconstruction_.plan(context, format);
    with_sample_type(format.type, [&]<class S>() { SampleKernels<S>::allow(*device_); });
  }

  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    const PlanRun memory{in, out, table_at<TileRuns>(runs_), table_at<DeviceTerm>(terms_),
                         context.scratch<std::byte>(scratch_)};
    with_sample_type(in.format.type,
                     [&]<class S>() { SampleKernels<S>::run(*device_, memory, context.stream); });
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
