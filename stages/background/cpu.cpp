// The declaration of background, and its implementation on the CPU.
#include <algorithm>

#include "pipeline/shared/loops.h"
#include "stages/background/plan.h"

namespace contorno {
namespace {

/// The scene of one frame: where it lies before and behind it.
struct FrameScene {
  const SceneColour* before = nullptr;  ///< null: this frame begins it
  SceneColour* after = nullptr;         ///< null: it never changes
  int step = 0;
};

class BackgroundCpu final : public Stage {
 public:
  explicit BackgroundCpu(const ParamSet& params) : params_(params.as<BackgroundParams>()) {}

  void plan(PlanContext& context) override { plan_ = make_background_plan(params_, context); }

  void run(const RunContext& context) const override {
    const FrameScene scene = scene_of(context);
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    for_rows(context.threads, plan_.in.height, [&](int y) {
      const auto at = plan_.row_colours * static_cast<std::size_t>(y);
      const auto* row = in.row<const std::uint8_t>(y);
      if (scene.before == nullptr) begin_row(row, scene.after + at);
      const SceneColour* before = scene.before == nullptr ? scene.after + at : scene.before + at;
      if (plan_.paints)
        paint_row(row, before, out.row<std::uint8_t>(y));
      else
        map_row(row, before, out.row<float>(y));
      if (scene.before != nullptr && scene.after != nullptr)
        move_row(row, before, scene.step, scene.after + at);
    });
  }

 private:
  FrameScene scene_of(const RunContext& context) const {
    if (!plan_.state) return {.before = plan_.reference.data()};
    const auto* before = context.state_before<SceneHeader>(*plan_.state);
    auto* after = context.state_after<SceneHeader>(*plan_.state);
    const std::uint64_t frames = before->frames_of(plan_.shape);
    *after = {.frames = frames + 1, .shape = plan_.shape};
    FrameScene scene{.after = reinterpret_cast<SceneColour*>(after + 1)};
    const bool given = !plan_.reference.empty();
    if (frames > 0)
      scene.before = reinterpret_cast<const SceneColour*>(before + 1);
    else if (given)
      scene.before = plan_.reference.data();
    if (scene.before != nullptr && plan_.least_step > 0)
      scene.step = scene_step(frames, plan_.least_step, given);
    return scene;
  }

  void begin_row(const std::uint8_t* row, SceneColour* after) const {
    const int channels = plan_.in.channels, colours = plan_.pixel.colours;
    for (int x = 0; x < plan_.in.width; ++x)
      for (int c = 0; c < colours; ++c)
        after[x * colours + c] = static_cast<SceneColour>(row[x * channels + c] * kSceneUnit);
  }
  void move_row(const std::uint8_t* row, const SceneColour* before, int step, SceneColour* after) const {
    const int channels = plan_.in.channels, colours = plan_.pixel.colours;
    for (int x = 0; x < plan_.in.width; ++x)
      for (int c = 0; c < colours; ++c)
        after[x * colours + c] = ScenePixel::moved(row[x * channels + c], before[x * colours + c], step);
  }
  void map_row(const std::uint8_t* row, const SceneColour* before, float* out) const {
    const ScenePixel pixel = plan_.pixel;
    const int channels = plan_.in.channels;
    for (int x = 0; x < plan_.in.width; ++x) out[x] = pixel(row + x * channels, before + x * pixel.colours);
  }
  void paint_row(const std::uint8_t* row, const SceneColour* before, std::uint8_t* out) const {
    const ScenePixel pixel = plan_.pixel;
    const int channels = plan_.in.channels;
    for (int x = 0; x < plan_.in.width; ++x)
      plan_.paint(pixel(row + x * channels, before + x * pixel.colours), row + x * channels, channels,
                  out + x * channels);
  }

  BackgroundParams params_;
  BackgroundPlan plan_;
};

ParamDeclaration background_params() {
  ParamList<BackgroundParams> list;
  list.mask("reference", &BackgroundParams::reference,
            "Picture of the empty scene, as large as the frames; without one the scene is learned from the "
            "frames, beginning with the first.");
  list.number("threshold", &BackgroundParams::threshold, 0.001, 1, Unit::Fraction,
              "Difference from the scene at which the map is 0.5; black to white is 1.");
  list.number("lightness", &BackgroundParams::lightness, 0, 1, Unit::Fraction,
              "How much a difference of lightness alone counts beside one of colour; less forgives shadows.");
  list.number(
      "rate", &BackgroundParams::rate, 0, 255, Unit::Levels,
      "How far the scene moves towards each frame, of 255 levels; 0 keeps the reference, or the first "
      "frame, for ever.");
  list.choice("output", &BackgroundParams::output,
              {{"maps", BackgroundOutput::Maps}, {"frame", BackgroundOutput::Frame}},
              "The map of what differs, or the frame in which all else is painted over, for classify.");
  list.colour("paint", &BackgroundParams::paint, "What the scene is painted in, in a frame.");
  return declare(std::move(list));
}

}  // namespace

const StageType& background_stage() {
  static const StageType type{
      .name = "background",
      .summary = "Finds what is not of the empty scene before a camera that stands still.",
      .inputs = {{.name = "image",
                  .sentence = "A frame: grey, RGB or RGBA, uint8.",
                  .from = From::FrameOrMaps}},
      .outputs = {{.name = "image",
                   .sentence = "One map, 0 to 1, or the frame with the scene painted over, as output says."}},
      .params = background_params(),
      .example = "- type: background\n  threshold: 0.15\n  lightness: 0.5\n",
      .make_cpu = [](const ParamSet& params) -> std::unique_ptr<Stage> {
        return std::make_unique<BackgroundCpu>(params);
      },
      .make_cuda = on_cuda<make_background_cuda>(),
  };
  return type;
}

}  // namespace contorno
