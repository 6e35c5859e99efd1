#include <algorithm>
#include <utility>

#include "pipeline/shared/loops.h"
#include "stages/degrade/lighter.h"
#include "stages/degrade/place_points.h"
#include "stages/degrade/planning.h"

namespace contorno {
namespace {

/// Plans the mipmap stage: what it makes lies within the outer stage.
class LevelContext final : public InnerPlanContext {
 public:
  using InnerPlanContext::InnerPlanContext;
  void set_output(std::size_t /*port*/, const Format& format) override {
    level = std::get<ImageFormat>(format);
  }

  ImageFormat level;
};

/// Plans the stage that finds contours: its maps are those of the level, and what it makes is told as if it
/// had been found in those of level 0.
class OnLevelContext final : public InnerPlanContext {
 public:
  OnLevelContext(PlanContext& outer, const ImageFormat& level) : InnerPlanContext(outer), level_(level) {}
  const Format& input(std::size_t /*port*/) const override { return level_; }
  void set_output(std::size_t port, const Format& format) override {
    auto placed = std::get<ContoursFormat>(format);
    const auto& maps = std::get<ImageFormat>(InnerPlanContext::input(0));
    placed.width = maps.width, placed.height = maps.height, placed.placement = maps.placement;
    InnerPlanContext::set_output(port, placed);
  }

 private:
  Format level_;
};

class Coarser final : public Stage {
 public:
  Coarser(std::unique_ptr<Stage> mipmap, std::unique_ptr<Stage> finder, Backend backend)
      : mipmap_(std::move(mipmap)), finder_(std::move(finder)), backend_(backend) {}

  void plan(PlanContext& context) override {
    LevelContext of_level(context);
    mipmap_->plan(of_level);
    level_ = of_level.level;
    memory_ = context.temporary(packed_bytes(level_),
                                backend_ == Backend::Cuda ? MemoryKind::Device : MemoryKind::Host);
    OnLevelContext on_level(context, level_);
    finder_->plan(on_level);
    const ImageFormat& maps = context.image(0);
    placement_ = {.rows = point_placement(level_.height, maps.height),
                  .cols = point_placement(level_.width, maps.width)};
  }

  void run(const RunContext& context) const override {
    const Value level = packed_view(context.scratch<std::byte>(memory_), level_);
    RunContext making = context;
    making.outputs = making.host_outputs = std::span(&level, 1);
    making.uploads = {};  // all of it has arrived: see takes_bands
    making.part_ended = nullptr;
    mipmap_->run(making);

    // Points are downloaded when they are placed, and not by who finds them.
    const auto& contours = std::get<ContoursView>(context.outputs[0]);
    auto counts_alone = std::get<ContoursView>(context.host_outputs[0]);
    counts_alone.points = nullptr;
    const Value host = counts_alone;
    RunContext finding = context;
    finding.inputs = std::span(&level, 1);
    finding.uploads = {};
    if (backend_ == Backend::Cuda) finding.host_outputs = std::span(&host, 1);
    finder_->run(finding);

    if (backend_ == Backend::Cuda)
      place_points_on_device(contours, placement_, context.stream);
    else
      place(contours, context.threads);
  }

  std::uint64_t overflow(const RunContext& context) const override { return finder_->overflow(context); }
  bool needs_counts() const override { return finder_->needs_counts(); }

 private:
  void place(const ContoursView& contours, int threads) const {
    if (!contours.fits()) return;
    constexpr std::uint64_t kAtATime = 4096;
    const std::uint64_t points = contours.counts->points;
    for_rows(threads, static_cast<int>((points + kAtATime - 1) / kAtATime), [&](int chunk) {
      const std::uint64_t begin = static_cast<std::uint64_t>(chunk) * kAtATime;
      for (std::uint64_t i = begin; i < std::min(points, begin + kAtATime); ++i)
        contours.points[i] = placement_(contours.points[i]);
    });
  }

  std::unique_ptr<Stage> mipmap_, finder_;
  Backend backend_;
  ImageFormat level_;
  Scratch memory_;
  PointsPlacement placement_;
};

/// The next level, however small the maps are.
ParamSet next_level(const StageType& mipmap) {
  ParamSet params(mipmap.params);
  params.set("level", std::int64_t{1});
  params.set("stop", std::int64_t{1});
  return params;
}

MakeStage coarser_maker(const MakeStage& finder, const MakeStage& mipmap, const ParamSet& level,
                        const std::function<void(ParamSet&)>& fit, Backend backend) {
  if (!finder || !mipmap) return {};
  return [=](const ParamSet& given) {
    ParamSet params = given;
    fit(params);
    return std::make_unique<Coarser>(mipmap(level), finder(params), backend);
  };
}

}  // namespace

StageType coarser(const StageType& type, const StageType& mipmap, std::function<void(ParamSet&)> fit) {
  StageType made = type;
  const ParamSet level = next_level(mipmap);
  made.make_cpu = coarser_maker(type.make_cpu, mipmap.make_cpu, level, fit, Backend::Cpu);
  made.make_cuda = coarser_maker(type.make_cuda, mipmap.make_cuda, level, fit, Backend::Cuda);
  return made;
}

}  // namespace contorno
