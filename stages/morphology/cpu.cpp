// The three stages on the CPU, and the functions that do the same.
#include "stages/morphology/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/morphology/engine.h"
#include "stages/morphology/params.h"
#include "stages/morphology/reconstruct.h"

namespace contorno {
namespace {

/// A stage that a MorphologyPlan describes; `make_plan` is asked once per format.
class PlannedCpu final : public Stage {
 public:
  using MakePlan = std::function<MorphologyPlan(const ImageFormat&)>;
  explicit PlannedCpu(MakePlan make_plan) : make_plan_(std::move(make_plan)) {}

  void plan(PlanContext& context) override {
    engine_.emplace(make_plan_(context.image(0)), context.threads(), best_simd());
    context.set_output(0, context.image(0));
    scratch_ = context.temporary(engine_->scratch_bytes(), MemoryKind::Host);
  }
  void run(const RunContext& context) const override {
    engine_->run(context.image_in(0), context.image_out(0), context.scratch<std::byte>(scratch_),
                 context.threads);
  }

 private:
  MakePlan make_plan_;
  std::optional<MorphologyEngine> engine_;
  Scratch scratch_;
};

void copy_image(const ImageView& from, const ImageView& to, int threads) {
  const ImageFormat& format = from.format;
  for_rows(threads, format.planes() * format.height, [&](int row) {
    const int plane = row / format.height, y = row % format.height;
    std::memcpy(to.row<char>(y, plane), from.row<char>(y, plane), format.row_bytes());
  });
}

class ReconstructionCpu final : public Stage {
 public:
  explicit ReconstructionCpu(const ParamSet& params) : params_(params.as<ReconstructionParams>()) {}

  void plan(PlanContext& context) override {
    check_reconstruction_formats(context.image(0), context.image(1));
    context.set_output(0, context.image(1));
    scratch_ = context.temporary(reconstruction_scratch_bytes(context.image(0), context.threads()),
                                 MemoryKind::Host);
  }
  void run(const RunContext& context) const override {
    copy_image(context.image_in(0), context.image_out(0), context.threads);
    reconstruct_in_place(params_.method, context.image_out(0), context.image_in(1), options_of(params_),
                         context.scratch<std::byte>(scratch_), context.threads);
  }

 private:
  ReconstructionParams params_;
  Scratch scratch_;
};

void run_once(MorphologyPlan plan, const ImageView& in, const ImageView& out,
              const MorphologyExecution& execution) {
  const MorphologyEngine engine(std::move(plan), execution.threads, execution.simd);
  const Block scratch(std::max<std::size_t>(engine.scratch_bytes(), 1), MemoryKind::Host);
  engine.run(in, out, scratch.data(), std::max(1, execution.threads));
}

}  // namespace

void apply_morphology(MorphologyOperation operation, const ImageView& in, const StructuringElement& element,
                      const ImageView& out, const MorphologyOptions& options,
                      const MorphologyExecution& execution) {
  run_once(plan_morphology(operation, element, options, in.format), in, out, execution);
}

void apply_hit_or_miss(const ImageView& in, const StructuringElement& hit, const StructuringElement& miss,
                       const ImageView& out, const MorphologyOptions& options,
                       const MorphologyExecution& execution) {
  run_once(plan_hit_or_miss(hit, miss, options, in.format), in, out, execution);
}

void apply_reconstruction(ReconstructionMethod method, const ImageView& marker, const ImageView& mask,
                          const ImageView& out, const MorphologyOptions& options,
                          const MorphologyExecution& execution) {
  check_reconstruction_formats(marker.format, mask.format);
  const Block scratch(reconstruction_scratch_bytes(marker.format, execution.threads), MemoryKind::Host);
  copy_image(marker, out, execution.threads);
  reconstruct_in_place(method, out, mask, options, scratch.data(), std::max(1, execution.threads));
}

const StageType& morphology_stage() {
  static const StageType type{
      .name = "morphology",
      .summary = "Erodes, dilates, opens and closes with a structuring element, and what derives from these.",
      .inputs = {{"image", PortType::Image, "A frame, or class maps; every channel is worked on on its own.",
                  From::FrameOrMaps}},
      .outputs = {{"image", PortType::Image, "The result, in the format of the input."}},
      .params = morphology_params(),
      .example = "- type: morphology\n  operation: opening\n  element: ellipse\n  size: [5, 5]\n",
      .make_cpu = [](const ParamSet& set) -> std::unique_ptr<Stage> {
        const auto& params = set.as<MorphologyParams>();
        return std::make_unique<PlannedCpu>([operation = params.operation, element = element_of(params),
                                             options = options_of(params)](const ImageFormat& format) {
          return plan_morphology(operation, element, options, format);
        });
      },
      .make_cuda = on_cuda<make_morphology_cuda>(),
  };
  return type;
}

const StageType& hit_or_miss_stage() {
  static const StageType type{
      .name = "hit_or_miss",
      .summary = "Finds the places where a pattern of foreground and background fits.",
      .inputs = {{"image", PortType::Image, "An image of 0 and full, or a grey one; channels on their own.",
                  From::FrameOrMaps}},
      .outputs = {{"image", PortType::Image, "How well the pattern fits: full where it does, 0 elsewhere."}},
      .params = hit_or_miss_params(),
      .example = "- type: hit_or_miss\n  pattern: \"000 011 01.\"\n",
      .make_cpu = [](const ParamSet& set) -> std::unique_ptr<Stage> {
        const auto& params = set.as<HitOrMissParams>();
        return std::make_unique<PlannedCpu>(
            [elements = elements_of(params), options = options_of(params)](const ImageFormat& format) {
              return plan_hit_or_miss(elements.hit, elements.miss, options, format);
            });
      },
      .make_cuda = on_cuda<make_hit_or_miss_cuda>(),
  };
  return type;
}

const StageType& reconstruction_stage() {
  static const StageType type{
      .name = "reconstruction",
      .summary = "Grows a marker under a mask, or shrinks it down to one, until nothing changes.",
      .inputs = {{"marker", PortType::Image, "Where to begin; it is cut off at the mask.", From::FrameOrMaps},
                 {"mask", PortType::Image, "What bounds the result, in the marker's format.",
                  From::FrameOrMaps}},
      .outputs = {{"image", PortType::Image, "The reconstructed image."}},
      .params = reconstruction_params(),
      .example = "- type: reconstruction\n  method: dilation\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<ReconstructionCpu>(params); },
      .make_cuda = on_cuda<make_reconstruction_cuda>(),
  };
  return type;
}

}  // namespace contorno
