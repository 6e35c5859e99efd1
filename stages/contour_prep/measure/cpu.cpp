// The declaration of measure, and its implementation on the CPU.
#include <algorithm>

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

/// The convex hull of some of `points`, in order: one chain from its first to its last one, by Andrew's
/// algorithm. Returns where it ends.
template <class It>
GridPoint* add_chain(It begin, It end, GridPoint* chain) {
  GridPoint* top = chain;
  for (; begin != end; ++begin) {
    while (top - chain >= 2 && twice_triangle(top[-2], top[-1], *begin) <= 0) --top;
    *top++ = *begin;
  }
  return top;
}

/// The area of the convex hull in px^2, NaN if a point is not on the grid. `sorted` and `hull` have room for
/// the points, `hull` for one more.
double hull_area(std::span<const Point> points, GridPoint* sorted, GridPoint* hull) {
  GridPoint* end = sorted;
  for (const Point& point : points) {
    const Offset offset(point, points[0]);
    if (!is_on_grid(offset.row) || !is_on_grid(offset.col)) return kNaN;
    *end++ = grid_point(offset);
  }
  std::sort(sorted, end);
  end = std::unique(sorted, end);
  if (end - sorted < 3) return 0;
  GridPoint* const turn = add_chain(sorted, end, hull) - 1;
  GridPoint* const last =
      add_chain(std::make_reverse_iterator(end), std::make_reverse_iterator(sorted), turn);
  Wide twice_area = 0;
  for (const GridPoint* corner = hull + 1; corner + 1 < last; ++corner)
    twice_area += twice_triangle(hull[0], corner[0], corner[1]);
  return area_on_grid(twice_area);
}

class MeasureCpu final : public AttributeStep {
 public:
  MeasureCpu() : AttributeStep(Backend::Cpu, kMeasuredAttributes) {}

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    const std::size_t corners = format.point_capacity + format.contour_capacity;  // hulls end as they begin
    sorted_ = context.temporary(format.point_capacity * sizeof(GridPoint), MemoryKind::Host);
    hulls_ = context.temporary(corners * sizeof(GridPoint), MemoryKind::Host);
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      sources[contour] = contour;
      measure(out, contour, context.scratch<GridPoint>(sorted_) + out.offsets[contour],
              context.scratch<GridPoint>(hulls_) + out.offsets[contour] + contour);
    });
  }

  static void measure(const ContoursView& out, std::uint32_t contour, GridPoint* sorted, GridPoint* hull) {
    const std::span<const Point> points = out.contour(contour);
    const OutlineSums outline = outline_of(points);
    const bool closed = out.closed[contour] != 0;
    write_form(out, contour, closed ? outline.area.first.weight / 2 : 0, outline.length,
               points.empty() ? 0 : hull_area(points, sorted, hull));
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

  Scratch sorted_, hulls_;
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
