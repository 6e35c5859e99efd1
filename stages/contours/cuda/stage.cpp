// Contours of a graph on the device, by the CUDA contour engine. Where somebody on the host takes them, those
// of complete planes are downloaded while others are still being made.
#include "stages/contours/stage.h"

#include "stages/contours/cuda/engine.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

class ContoursCuda final : public Stage {
 public:
  explicit ContoursCuda(const ContoursParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ImageFormat& map = checked_map(context);
    points_ = planned_points(context, map);
    ContourEngineSpec spec;
    spec.map = map;
    spec.divisor = probability_scale(map.type).divisor;
    by_level_ = have_levels(context.classes());
    for (const ClassSpec& one : context.classes()) {
      const std::span<const double> levels = one.iso_levels();
      spec.levels.insert(spec.levels.end(), levels.begin(), levels.end());
      if (by_level_) spec.channel_levels.push_back(static_cast<int>(levels.size()));
    }
    spec.connectivity = params_.fully_connected;
    spec.orientation = params_.positive_orientation;
    spec.min_points = static_cast<unsigned>(params_.min_points);
    spec.point_capacity = points_;
    spec.contour_capacity = planned_contours(points_);
    workspace_ = context.scratch(engine_.plan(spec), MemoryKind::Device);
    if (by_level_)
      plane_begin_ = context.temporary((spec.planes() + 1) * sizeof(std::uint32_t), MemoryKind::Device);
    context.set_output(0, planned_output(context, map, points_));
  }

  void run(const RunContext& context) const override {
    std::function<void()> traced;
    if (context.part_ended != nullptr) traced = [&context] { context.end_part(kMarchingSquares); };
    auto* const workspace = context.scratch<std::byte>(workspace_);
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    if (by_level_)
      return engine_.enqueue_classes(context.image_in(0), workspace,
                                     context.scratch<std::uint32_t>(plane_begin_), contours, context.stream,
                                     traced);
    const auto& host = std::get<ContoursView>(context.host_outputs[0]);
    BandedUpload* const upload = context.uploads.empty() ? nullptr : context.uploads[0];
    engine_.enqueue(context.image_in(0), upload, {}, workspace, contours,
                    host.points != nullptr ? &host : nullptr, context.stream, traced);
  }

  bool takes_bands() const override { return !by_level_; }
  bool downloads_output() const override { return !by_level_; }

  bool needs_counts() const override { return true; }
  std::uint64_t overflow(const RunContext& context) const override {
    return contour_capacity_needed(*std::get<ContoursView>(context.host_outputs[0]).counts, points_);
  }

 private:
  ContoursParams params_;
  CudaContourEngine engine_;
  Scratch workspace_;    // begins as zeros, so it needs no CudaContourEngine::prepare
  Scratch plane_begin_;  // of several levels
  std::uint64_t points_ = 0;
  bool by_level_ = false;
};

}  // namespace

std::unique_ptr<Stage> make_contours_cuda(const ParamSet& params) {
  return std::make_unique<ContoursCuda>(params.as<ContoursParams>());
}

}  // namespace contorno
