// The declaration of exclude, and its implementation on the CPU.
#include "pipeline/shared/loops.h"
#include "stages/contour_prep/exclude/region.h"
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/point_selection.h"

namespace contorno {
namespace {

/// Points of one task.
constexpr std::uint64_t kChunk = 8192;

class ExcludeCpu final : public Stage {
 public:
  explicit ExcludeCpu(const ExcludeParams& params) : region_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    keep_ = context.temporary(format.point_capacity, MemoryKind::Host);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    auto* const keep = context.scratch<std::uint8_t>(keep_);
    if (in.fits()) {
      const RegionView region = region_.view();
      const std::uint64_t points = in.counts->points;
      for_tasks(context.threads, static_cast<int>((points + kChunk - 1) / kChunk), [&](int task) {
        const std::uint64_t first = static_cast<std::uint64_t>(task) * kChunk;
        for (std::uint64_t i = first; i < std::min(first + kChunk, points); ++i)
          keep[i] = region.has(in.points[i]) ? 0 : 1;
      });
    }
    select_points(in, keep, std::get<ContoursView>(context.outputs[0]));
  }

 private:
  Region region_;
  Scratch keep_;
};

ParamDeclaration exclude_params() {
  constexpr std::size_t kMostNumbers = 4000000;
  constexpr double kFarthest = 1e9;
  ParamList<ExcludeParams> list;
  list.numbers("points", &ExcludeParams::points, 0, kMostNumbers, -kFarthest, kFarthest, Unit::Pixels,
               "Brush points: x, y of each.");
  list.number("radius", &ExcludeParams::radius, 0, kFarthest, Unit::Pixels,
              "Points up to this far from a brush point or a stroke are left out.");
  list.numbers("strokes", &ExcludeParams::strokes, 0, kMostNumbers, -kFarthest, kFarthest, Unit::Pixels,
               "Strokes of the brush: x, y of the first point and of the last point of each.");
  list.mask("mask", &ExcludeParams::mask,
            "Path of a mask on the map, an image or an .npy array: points where it is not 0 are left out.");
  return declare<ExcludeParams>(list, [](const ExcludeParams& params, const ParamTrial& trial) {
    trial.run("points", [&] { check_points(params); });
    trial.run("strokes", [&] { check_strokes(params); });
  });
}

}  // namespace

const StageType& exclude_stage() {
  static const StageType type = contour_step({
    .name = "exclude", .summary = "Leaves out points that a brush painted over.",
    .gives = "The points that are not painted over, in their order and their contours.",
    .params = exclude_params(),
    .example = "- type: exclude\n  points: [12, 30.5]\n  strokes: [0, 0, 40, 25]\n  radius: 3\n",
    .make_cpu = make_step<ExcludeCpu, ExcludeParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_exclude_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
