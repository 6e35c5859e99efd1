#include "stages/mean_shift/filter.h"

#include "pipeline/shared/loops.h"
#include "stages/mean_shift/climber.h"

namespace contorno {
namespace {

class MeanShiftFilterCpu final : public Stage {
 public:
  explicit MeanShiftFilterCpu(const ParamSet& params) : params_(params.as<MeanShiftFilterParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_mean_shift_image_plan("mean_shift_filter", params_, context.image(0));
    context.set_output(0, plan_.in);
    planes_ = context.temporary(ImageClimber::scratch_bytes(plan_), MemoryKind::Host);
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    ImageClimber climber(plan_, best_simd());
    climber.load(in, context.scratch<std::uint16_t>(planes_), context.threads);
    const int channels = plan_.in.channels, colours = channels == 1 ? 1 : 3;
    for_tasks(context.threads, plan_.in.height, [&](int y) {
      const auto* from = in.row<const std::uint8_t>(y);
      auto* to = out.row<std::uint8_t>(y);
      for (int x = 0; x < plan_.in.width; ++x, from += channels, to += channels) {
        const ShiftEnd end = climber.climb(x, y);
        for (int k = 0; k < colours; ++k) to[k] = end.colour[k];
        if (channels == 4) to[3] = from[3];
      }
    });
  }

 private:
  MeanShiftFilterParams params_;
  MeanShiftImagePlan plan_;
  Scratch planes_;
};

}  // namespace

const StageType& mean_shift_filter_stage() {
  static const StageType type = [] {
    ParamList<MeanShiftFilterParams> list;
    add_window_params(list);
    StageType stage{
        .name = "mean_shift_filter",
        .summary =
            "Flattens an image without blurring its edges: every pixel takes the colour of the mean to which "
            "it climbs.",
        .inputs = {{"image", PortType::Image, "The image: grey, RGB or RGBA, uint8.", From::FrameOrMaps}},
        .outputs = {{"image", PortType::Image, "The flattened image, in the format of the input."}},
        .params = declare(std::move(list)),
        .example = "- type: mean_shift_filter\n  spatial: 6\n  colour: 18\n",
        .make_cpu = [](const ParamSet& p) { return std::make_unique<MeanShiftFilterCpu>(p); },
        .make_cuda = on_cuda<make_mean_shift_filter_cuda>(),
    };
    return stage;
  }();
  return type;
}

}  // namespace contorno
