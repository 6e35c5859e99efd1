// The declaration of simplify, and its implementation on the CPU.
#include "stages/contour_prep/shared/contour_loop.h"
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
    else if (params_.points > 0)
      ranked_ = take(sizeof(RankedPoint));
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
    const std::uint32_t begin = in.offsets[contour];
    const bool closed = in.closed[contour] != 0;
    const std::uint32_t own = own_points(in.offsets[contour + 1] - begin, closed);
    if (params_.method == SimplifyMethod::Visvalingam)
      mark_visvalingam(in.points + begin, own, closed, limits_, keep + begin,
                       context.scratch<VisvalingamPoint>(nodes_) + begin,
                       context.scratch<VisvalingamArea>(heap_) + begin);
    else
      mark_douglas_peucker(farthest_, in.points + begin, own, closed, limits_, keep + begin,
                           params_.points > 0 ? context.scratch<RankedPoint>(ranked_) + begin : nullptr);
  }

  SimplifyParams params_;
  SimplifyLimits limits_;
  FarthestBetween farthest_ = farthest_between(best_simd());
  Scratch keep_, nodes_, heap_, ranked_;
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
  static const StageType type {
    .name = "simplify", .summary = "Keeps the points of contours that matter for their shape.",
    .inputs = {{.name = "contours", .type = PortType::Contours, .sentence = "Contours of all classes."}},
    .outputs = {{.name = "contours",
                 .type = PortType::Contours,
                 .sentence = "The same contours with fewer points."}},
    .params = simplify_params(), .example = "- type: simplify\n  tolerance: 0.75\n  points: 200\n",
    .make_cpu = [](const ParamSet& params) -> std::unique_ptr<Stage> {
      return std::make_unique<SimplifyCpu>(params.as<SimplifyParams>());
    },
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_simplify_cuda,
#endif
  };
  return type;
}

}  // namespace contorno
