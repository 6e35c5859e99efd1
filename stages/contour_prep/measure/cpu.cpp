// The declaration of measure, and its implementation on the CPU.
#include "stages/contour_prep/measure/hull.h"
#include "stages/contour_prep/measure/outline.h"
#include "stages/contour_prep/measure/rules.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

using namespace measuring;

class MeasureCpu final : public AttributeStep {
 public:
  MeasureCpu() : AttributeStep(Backend::Cpu, kMeasuredAttributes) {}

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    const std::size_t corners = format.point_capacity + format.contour_capacity;  // hulls end as they begin
    sorted_ = context.temporary(format.point_capacity * sizeof(GridPoint), MemoryKind::Host);
    hulls_ = context.temporary(corners * sizeof(GridPoint), MemoryKind::Host);
    bins_ = context.temporary(corners * sizeof(std::uint32_t), MemoryKind::Host);
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      sources[contour] = contour;
      const std::size_t begin = out.offsets[contour];
      measure(
          out, contour,
          {context.scratch<GridPoint>(sorted_) + begin, context.scratch<GridPoint>(hulls_) + begin + contour,
           context.scratch<std::uint32_t>(bins_) + begin + contour});
    });
  }

  static void measure(const ContoursView& out, std::uint32_t contour, const HullRoom& room) {
    const std::span<const Point> points = out.contour(contour);
    write_outline(out, contour, points, out.closed[contour] != 0,
                  points.empty() ? 0 : hull_area(points, room));
  }

  Scratch sorted_, hulls_, bins_;
};

}  // namespace

const StageType& measure_stage() {
  static const StageType type = contour_step({
    .name = "measure", .summary = "Measures area, perimeter, box, axes and form of every contour.",
    .gives = "The same contours, with their measures as attributes.",
    .params = declare(ParamList<NoParams>()), .example = "- type: measure\n",
    .make_cpu = make_step<MeasureCpu, NoParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_measure_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
