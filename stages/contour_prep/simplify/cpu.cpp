// The declaration of simplify, and its implementation on the CPU.
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/point_selection.h"
#include "stages/contour_prep/simplify/douglas_peucker.h"
#include "stages/contour_prep/simplify/visvalingam.h"

namespace contorno {
namespace {

class SimplifyCpu final : public Stage {
 public:
  explicit SimplifyCpu(const SimplifyParams& params) : params_(params), limits_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const auto take = [&](std::size_t bytes) {
      return context.temporary(format.point_capacity * bytes, MemoryKind::Host);
    };
    keep_ = take(1);
    if (params_.method == SimplifyMethod::Visvalingam)
      nodes_ = take(sizeof(VisvalingamPoint)), heap_ = take(sizeof(VisvalingamArea));
    else {
      if (params_.points > 0) ranked_ = take(sizeof(RankedPoint));
      boxes_ =
          context.temporary(PointBlocks::boxes_for(format.point_capacity) * sizeof(Box), MemoryKind::Host);
    }
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    auto* const keep = context.scratch<std::uint8_t>(keep_);
    if (in.fits())
      for_contours(context.threads, in.counts->contours,
                   [&](std::uint32_t contour) { mark(context, in, contour, keep); });
    select_points(in, keep, std::get<ContoursView>(context.outputs[0]));
  }

 private:
  void mark(const RunContext& context, const ContoursView& in, std::uint32_t contour,
            std::uint8_t* keep) const {
    const OwnPoints own(in, contour);
    if (params_.method == SimplifyMethod::Visvalingam)
      mark_visvalingam(own.points, own.count, own.closed, limits_, keep + own.begin,
                       context.scratch<VisvalingamPoint>(nodes_) + own.begin,
                       context.scratch<VisvalingamArea>(heap_) + own.begin);
    else
      mark_douglas_peucker(farthest_, own.points, own.count, own.closed, limits_, keep + own.begin,
                           params_.points > 0 ? context.scratch<RankedPoint>(ranked_) + own.begin : nullptr,
                           context.scratch<Box>(boxes_) + PointBlocks::first_box(own.begin));
  }

  SimplifyParams params_;
  SimplifyLimits limits_;
  FarthestBetween farthest_ = farthest_between(best_simd());
  Scratch keep_, nodes_, heap_, ranked_, boxes_;
};

ParamDeclaration simplify_params() {
  ParamList<SimplifyParams> list;
  list.choice(
      "method", &SimplifyParams::method,
      {{"douglas_peucker", SimplifyMethod::DouglasPeucker}, {"visvalingam", SimplifyMethod::Visvalingam}},
      "How points are chosen: by their distance to the segment between those that are kept, or by the "
      "area of the triangle with their neighbours.");
  list.number("tolerance", &SimplifyParams::tolerance, 0, 1e9, Unit::None,
              "Points go while the distance is not greater than this in px; for visvalingam, the area in "
              "px^2.");
  list.integer(
      "points", &SimplifyParams::points, 0, 1000000000, Unit::None,
      "At most so many points of each contour are kept, the most important ones; the repeated point of "
      "a closed contour does not count. 0 keeps any number.");
  return declare(list);
}

}  // namespace

const StageType& simplify_stage() {
  static const StageType type = contour_step({
    .name = "simplify", .summary = "Keeps the points of contours that matter for their shape.",
    .gives = "The same contours with fewer points.", .params = simplify_params(),
    .example = "- type: simplify\n  tolerance: 0.75\n  points: 200\n",
    .make_cpu = make_step<SimplifyCpu, SimplifyParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_simplify_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
