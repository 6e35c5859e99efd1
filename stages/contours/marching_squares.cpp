#include "stages/contours/marching_squares.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "stages/contours/cpu/crossings.h"
#include "stages/contours/cpu/mark_samples.h"

namespace contorno {
namespace {

struct MarchingSquaresParams {};

/// The input's format, which must have a channel a class.
const ImageFormat& checked_map(const PlanContext& context) {
  const ImageFormat& map = context.image(0);
  if (static_cast<std::size_t>(map.channels) != context.classes().size())
    throw Error(ExitCode::BadConfig,
                fmt::format("the maps have {} channels ({}), but the graph declares {} classes; declare one "
                            "class a channel",
                            map.channels, describe(map), context.classes().size()));
  return map;
}

class MarchingSquaresCpu : public Stage {
 public:
  void plan(PlanContext& context) override {
    const ImageFormat& map = checked_map(context);
    const auto classes = context.classes();
    marker_.reset();
    // Several levels of a map are marked by the assembly, as many at a time as there is room for.
    if (have_levels(classes)) return context.set_output(0, PrivateFormat{});
    std::vector<double> levels;
    for (const ClassSpec& spec : classes) levels.push_back(spec.level);
    marker_ = std::make_unique<SampleMarker>(map, levels, probability_scale(map.type));
    context.set_output(0, PrivateFormat{crossings_bytes(map)});
  }

  void run(const RunContext& context) const override {
    if (marker_ == nullptr) return;
    const auto& crossings = std::get<PrivateView>(context.outputs[0]);
    marker_->mark(context.image_in(0), crossings.data, context.threads);
  }

 private:
  std::unique_ptr<const SampleMarker> marker_;
};

#if CONTORNO_HAVE_CUDA
/// On the device one engine makes crossings and contours from a single read of the map; it belongs to the
/// assembly, which knows how saddles are joined and finds the map behind the crossings.
class MarchingSquaresCuda : public Stage {
 public:
  void plan(PlanContext& context) override {
    checked_map(context);
    by_level_ = have_levels(context.classes());
    context.set_output(0, PrivateFormat{});
  }
  void run(const RunContext&) const override {}
  bool takes_bands() const override { return !by_level_; }

 private:
  bool by_level_ = false;
};
#endif

}  // namespace

const StageType& marching_squares_stage() {
  static const StageType type {
    .name = "marching_squares",
    .summary = "Finds the cells of each class's map that the class's level crosses.",
    .inputs = {{.name = "maps",
                .type = PortType::Image,
                .sentence = "Probability maps, one channel a class.",
                .from = From::MapsOrFrame}},
    .outputs = {{.name = "crossings", .type = PortType::Private, .sentence = "The crossed cells."}},
    .params = declare(ParamList<MarchingSquaresParams>()), .example = "- type: marching_squares\n",
    .make_cpu = [](const ParamSet&) -> std::unique_ptr<Stage> {
      return std::make_unique<MarchingSquaresCpu>();
    },
#if CONTORNO_HAVE_CUDA
    .make_cuda = [](const ParamSet&) -> std::unique_ptr<Stage> {
      return std::make_unique<MarchingSquaresCuda>();
    },
#endif
    .classes = ClassUse::Needed,
  };
  return type;
}

}  // namespace contorno
