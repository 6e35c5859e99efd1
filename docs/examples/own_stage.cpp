// A stage of one's own: maps whose values lie farther from 0.5. Built into a program (own_stage_main.cpp),
// and as a library that `contorno --load` takes.
#include <cstddef>
#include <memory>

#include <contorno/base/error.h>
#include <contorno/base/host_device.h>
#include <contorno/pipeline/graph/stage.h>
#include <contorno/pipeline/shared/loops.h>
#include <contorno/plugins/extension.h>

namespace {

struct SteepenParams {
  double gain = 2;
};

/// One sample: all the arithmetic there is, for every backend. NaN stays NaN.
struct Steepen {
  float gain = 1;
  CONTORNO_HD float operator()(float v) const {
    const float w = (v - 0.5F) * gain + 0.5F;
    return w < 0 ? 0 : w > 1 ? 1 : w;
  }
};

class SteepenCpu final : public contorno::Stage {
 public:
  explicit SteepenCpu(const contorno::ParamSet& params)
      : steepen_{.gain = static_cast<float>(params.as<SteepenParams>().gain)} {}

  void plan(contorno::PlanContext& context) override {
    const contorno::ImageFormat& in = context.image(0);
    if (in.type != contorno::ElementType::F32)
      throw contorno::Error(contorno::ExitCode::BadConfig,
                            "steepen: the maps are " + describe(in) + ", allowed float32");
    context.set_output(0, in);
  }

  void run(const contorno::RunContext& context) const override {
    const contorno::ImageView &in = context.image_in(0), &out = context.image_out(0);
    for (int plane = 0; plane < in.format.planes(); ++plane)
      contorno::for_rows(context.threads, in.format.height, [&](int y) {
        const auto* from = in.row<const float>(y, plane);
        auto* to = out.row<float>(y, plane);
        for (std::size_t x = 0; x < in.format.samples_per_row(); ++x) to[x] = steepen_(from[x]);
      });
  }

 private:
  Steepen steepen_;
};

}  // namespace

const contorno::StageType& steepen_stage() {
  static const contorno::StageType type{
      .name = "steepen",
      .summary = "Moves the values of maps away from 0.5.",
      .inputs = {{.name = "maps", .sentence = "Probability maps.", .from = contorno::From::MapsOrFrame}},
      .outputs = {{.name = "maps", .sentence = "The same, from 0 to 1."}},
      .params = contorno::declare(contorno::ParamList<SteepenParams>().number(
          "gain", &SteepenParams::gain, 1, 100, contorno::Unit::None,
          "Factor of the distance from 0.5; 1 changes nothing.")),
      .example = "- type: steepen\n  gain: 4\n",
      .make_cpu = [](const contorno::ParamSet& params) { return std::make_unique<SteepenCpu>(params); }};
  return type;
}

static contorno::Extension extension() {
  return {.stages = {&steepen_stage()}};
}
CONTORNO_EXTENSION(extension);
