// The declaration of drop_small, and its implementation on the CPU.
#include <algorithm>
#include <cmath>

#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

class DropSmallCpu final : public Stage {
 public:
  explicit DropSmallCpu(const DropSmallParams& params) : least_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    is_large_ = context.temporary(format.contour_capacity, MemoryKind::Host);
    sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    auto* const large = context.scratch<std::uint8_t>(is_large_);
    for_contours(context.threads, in.counts->contours,
                 [&](std::uint32_t contour) { large[contour] = is_large(in, contour) ? 1 : 0; });
    auto* const sources = context.scratch<std::uint32_t>(sources_);
    std::uint32_t kept = 0;
    for (int k = 0; k < in.format.classes; ++k) {
      for (std::uint32_t contour = in.class_begin[k]; contour < in.class_begin[k + 1]; ++contour)
        if (large[contour] != 0) sources[kept++] = contour;
      out.class_begin[k + 1] = kept;
    }
    gather_contours(in, sources, out);
  }

  std::optional<Scratch> selection() const override { return sources_; }

 private:
  bool is_large(const ContoursView& in, std::uint32_t contour) const {
    for (const ContourSize by : {ContourSize::Points, ContourSize::Length, ContourSize::Area})
      if (least_.of(by) > 0 && size_in_units(by, in, contour) < least_.of(by)) return false;
    return true;
  }

  LeastSizes least_;
  Scratch is_large_, sources_;
};

ParamDeclaration drop_small_params() {
  ParamList<DropSmallParams> list;
  list.integer("min_points", &DropSmallParams::min_points, 0, 1000000000, Unit::None,
               "Contours with fewer points are left out; the repeated point of a closed one counts.");
  list.number("min_length", &DropSmallParams::min_length, 0, 1e9, Unit::Pixels,
              "Shorter contours are left out.");
  list.number(
      "min_area", &DropSmallParams::min_area, 0, 1e9, Unit::None,
      "Contours that enclose less, in px^2, are left out; open ones enclose nothing, holes count like "
      "any other.");
  return declare(list);
}

std::uint64_t in_units(double value) {
  return static_cast<std::uint64_t>(std::llround(value * kSizeUnits));
}

}  // namespace

LeastSizes::LeastSizes(const DropSmallParams& params)
    : points(static_cast<std::uint64_t>(std::max(params.min_points, 1))),
      length(in_units(params.min_length)),
      twice_area(in_units(2 * params.min_area)) {}

const StageType& drop_small_stage() {
  static const StageType type = contour_step({
    .name = "drop_small", .summary = "Leaves out contours with few points, a short length or a small area.",
    .gives = "Those that are large enough, in their order.", .params = drop_small_params(),
    .example = "- type: drop_small\n  min_points: 4\n  min_area: 2.5\n",
    .make_cpu = make_step<DropSmallCpu, DropSmallParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_drop_small_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
