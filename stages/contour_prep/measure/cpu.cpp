// The declaration of measure, and its implementation on the CPU.
#include "stages/contour_prep/measure/hull.h"
#include "stages/contour_prep/measure/rules.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

using namespace measuring;

OutlineSums outline_of(std::span<const Point> points) {
  OutlineSums lanes[kLanes];
  for (std::size_t i = 1; i < points.size(); ++i)
    lanes[(i - 1) % kLanes].add(Offset(points[i - 1], points[0]), Offset(points[i], points[0]));
  return sum_of_lanes(lanes);
}

Moments line_of(std::span<const Point> points) {
  Moments lanes[kLanes];
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Offset a(points[i - 1], points[0]), b(points[i], points[0]);
    lanes[(i - 1) % kLanes].add(length_of(a, b), a, b);
  }
  return sum_of_lanes(lanes);
}

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
    const OutlineSums outline = outline_of(points);
    const bool closed = out.closed[contour] != 0;
    write_form(out, contour, closed ? outline.area.first.weight / 2 : 0, outline.length,
               points.empty() ? 0 : hull_area(points, room));
    const Point first = points.empty() ? Point{std::nanf(""), std::nanf("")} : points[0];
    if (closed && outline.area.first.weight != 0)
      write_ellipse(out, contour, first, ellipse_of(outline.area, kOfTriangles));
    else if (outline.length != 0)
      write_ellipse(out, contour, first, ellipse_of(line_of(points), kOfSegments));
    else
      write_ellipse(out, contour, first, Ellipse{});
    Box box;
    for (const Point& point : points) box.add(point);
    write_box(out, contour, box);
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
