#include "stages/marching_squares.h"

#include <fmt/format.h>

#include <memory>

#include "cuda/error.h"
#include "stages/crossings.h"
#include "stages/mark_samples.h"

namespace contorno {
namespace {

struct MarchingSquaresParams {};

class MarchingSquaresCpu : public Stage {
 public:
  void plan(PlanContext& context) override {
    const ImageFormat& map = context.image(0);
    const auto classes = context.classes();
    if (static_cast<std::size_t>(map.channels) != classes.size())
      throw Error(
          ExitCode::BadConfig,
          fmt::format("the maps have {} channels ({}), but the graph declares {} classes; declare one "
                      "class a channel",
                      map.channels, describe(map), classes.size()));
    std::vector<double> levels;
    for (const ClassSpec& spec : classes) levels.push_back(spec.level);
    marker_ = std::make_unique<SampleMarker>(map, levels, probability_scale(map.type));
    context.set_output(0, CrossingsFormat{map, crossings_bytes(map)});
  }

  void run(const RunContext& context) const override {
    const auto& crossings = std::get<CrossingsView>(context.outputs[0]);
    marker_->mark(context.image_in(0), crossings.data, context.threads);
  }

 private:
  std::unique_ptr<const SampleMarker> marker_;
};

}  // namespace

const StageType& marching_squares_stage() {
  static const StageType type{
      .name = "marching_squares",
      .summary = "Finds the cells of each class's map that the class's level crosses.",
      .inputs = {{.name = "maps",
                  .type = PortType::Image,
                  .sentence = "Probability maps, one channel a class."}},
      .outputs = {{.name = "crossings", .type = PortType::Crossings, .sentence = "The crossed cells."}},
      .params = declare(ParamList<MarchingSquaresParams>()),
      .example = "- type: marching_squares\n",
      .make_cpu = [](const ParamSet&) -> std::unique_ptr<Stage> {
        return std::make_unique<MarchingSquaresCpu>();
      }};
  return type;
}

}  // namespace contorno
