#include "stages/background/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stages/shared/colour.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "background: " + sentence);
}

/// A level of an array, which has grey values alone.
SceneColour grey_of(double value) {
  if (!(value >= 0 && value <= 255))
    refuse(fmt::format("the reference has the value {}, allowed 0 to 255", value));
  return static_cast<SceneColour>(std::lround(value * kSceneUnit));
}

ScenePaint paint_of(const Colour& colour, int channels) {
  if (channels > 1) return {{colour.red, colour.green, colour.blue, colour.alpha}};
  const float grey = luma_of(static_cast<float>(colour.red), static_cast<float>(colour.green),
                             static_cast<float>(colour.blue));
  return {{static_cast<std::uint8_t>(std::lround(grey))}};
}

std::vector<SceneColour> scene_of(const Mask& reference, const ImageFormat& frame, int colours) {
  if (reference.width != frame.width || reference.height != frame.height)
    refuse(fmt::format("the reference has {}x{} px, but the frames have {}x{}", reference.width,
                       reference.height, frame.width, frame.height));
  const auto pixels = reference.values.size();
  std::vector<SceneColour> scene;
  scene.reserve(pixels * static_cast<std::size_t>(colours));
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < static_cast<std::size_t>(colours); ++c)
      scene.push_back(colours == 3 && !reference.colours.empty()
                          ? static_cast<SceneColour>(reference.colours[3 * i + c] * kSceneUnit)
                          : grey_of(reference.values[i]));
  return scene;
}

}  // namespace

BackgroundPlan make_background_plan(const BackgroundParams& params, PlanContext& context) {
  const ImageFormat& in = context.image(0);
  if (in.type != ElementType::U8 || in.layout != Layout::Interleaved ||
      (in.channels != 1 && in.channels != 3 && in.channels != 4))
    refuse(fmt::format("the input is {}, allowed 1, 3 or 4 interleaved channels of uint8{}", describe(in),
                       conversion_hint_to_uint8(in.type)));
  BackgroundPlan plan{.in = in, .out = in, .paint = paint_of(params.paint, in.channels)};
  plan.paints = params.output == BackgroundOutput::Frame;
  if (!plan.paints) plan.out.channels = 1, plan.out.layout = Layout::Planar, plan.out.type = ElementType::F32;
  plan.pixel = {.colours = in.channels == 1 ? 1 : 3,
                .lightness = static_cast<float>(params.lightness * params.lightness),
                .threshold = static_cast<float>(params.threshold * params.threshold)};
  if (params.reference) plan.reference = scene_of(*params.reference, in, plan.pixel.colours);
  plan.least_step = static_cast<int>(std::lround(params.rate * kSceneUnit));
  if (params.rate > 0) plan.least_step = std::max(plan.least_step, 1);
  plan.row_colours = static_cast<std::size_t>(in.width) * static_cast<std::size_t>(plan.pixel.colours);
  plan.shape = (static_cast<std::uint64_t>(in.width) << 32U) | (static_cast<std::uint64_t>(in.height) << 2U) |
               static_cast<std::uint64_t>(plan.pixel.colours);
  if (plan.reference.empty() || plan.least_step > 0)
    plan.state = context.state(sizeof(SceneHeader) +
                               plan.row_colours * static_cast<std::size_t>(in.height) * sizeof(SceneColour));
  context.set_output(0, plan.out);
  return plan;
}

}  // namespace contorno
