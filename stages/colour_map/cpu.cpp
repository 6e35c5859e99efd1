#include "pipeline/shared/loops.h"
#include "stages/colour_map/plan.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

class ColourMapCpu final : public Stage {
 public:
  explicit ColourMapCpu(const ParamSet& params) : params_(params.as<ColourMapParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_colour_map_plan(params_, context);
    context.set_output(0, plan_.out);
  }

  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    const Plane plane = plane_of(in, params_.channel, probability_scale(in.format.type));
    const ColourTable table = plan_.table(params_, plan_.stops.data());
    for_rows(context.threads, plane.height, [&](int y) {
      with_sample_type(plane.type, [&]<class T>(const T*) {
        auto* to = out.row<std::uint8_t>(y);
        for (int x = 0; x < plane.width; ++x, to += 3) table(plane.at<T>(y, x), to);
      });
    });
  }

 private:
  ColourMapParams params_;
  ColourMapPlan plan_;
};

ParamDeclaration colour_map_params() {
  ParamList<ColourMapParams> list;
  list.text(
      "colours", &ColourMapParams::colours,
      "Values, ascending, each with its colour, between commas; by default water, sand, grass, rock and "
      "snow of heights from 0 to 1.");
  list.flag(
      "blend", &ColourMapParams::blend,
      "Whether colours pass into each other from value to value; else each reaches up to the next value.");
  list.integer("channel", &ColourMapParams::channel, 0, 4095, Unit::None,
               "Channel, or class of maps, whose values are coloured.");
  return declare(std::move(list), [](const ColourMapParams& params, const ParamTrial& trial) {
    trial.run("colours", [&] { parse_colour_stops(params.colours); });
  });
}

}  // namespace

const StageType& colour_map_stage() {
  static const StageType type{
      .name = "colour_map",
      .summary = "Makes a picture of heights or of a class map, with a colour for each value.",
      .inputs = {{"image", PortType::Image, "Heights, class maps or a picture.", From::MapsOrFrame}},
      .outputs = {{"image", PortType::Image, "The picture, RGB."}},
      .params = colour_map_params(),
      .example = "- type: colour_map\n  colours: \"0 #0b2a5b, 0.5 #2f7fb8, 0.5 #7fb069, 1 #ffffff\"\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<ColourMapCpu>(params); },
      .make_cuda = on_cuda<make_colour_map_cuda>(),
  };
  return type;
}

}  // namespace contorno
