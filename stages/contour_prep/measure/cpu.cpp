// The declaration of measure, and its implementation on the CPU.
#include <algorithm>

#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/measure/rules.h"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

using namespace measuring;

struct MeasureParams {};

/// The sums of all lanes, added up in pairs.
template <class Sums>
Sums sum_of_lanes(Sums (&lanes)[kLanes]) {
  for (unsigned step = kLanes / 2; step > 0; step /= 2)
    for (unsigned lane = 0; lane < step; ++lane) lanes[lane].add(lanes[lane + step]);
  return lanes[0];
}

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

class MeasureCpu final : public Stage {
 public:
  void plan(PlanContext& context) override {
    ContoursFormat format = std::get<ContoursFormat>(context.input(0));
    const std::size_t points =
        format.point_capacity + format.contour_capacity;  // hulls begin and end with one
    sorted_ = context.temporary(format.point_capacity * sizeof(GridPoint), MemoryKind::Host);
    hulls_ = context.temporary(points * sizeof(GridPoint), MemoryKind::Host);
    sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
    format.attributes = format.attributes.with(kMeasuredAttributes);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    copy_contours(in, out);
    for_contours(context.threads, in.counts->contours, [&](std::uint32_t contour) {
      context.scratch<std::uint32_t>(sources_)[contour] = contour;
      measure(out, contour, context.scratch<GridPoint>(sorted_) + in.offsets[contour],
              context.scratch<GridPoint>(hulls_) + in.offsets[contour] + contour);
    });
  }

  std::optional<Scratch> selection() const override { return sources_; }

 private:
  static void measure(const ContoursView& out, std::uint32_t contour, GridPoint* sorted, GridPoint* hull) {
    const std::span<const Point> points = out.contour(contour);
    const OutlineSums outline = outline_of(points);
    const bool closed = out.closed[contour] != 0;
    write_form(out, contour, closed ? outline.area.weight / 2 : 0, outline.length,
               points.empty() ? 0 : hull_area(points, sorted, hull));
    const Point first = points.empty() ? Point{std::nanf(""), std::nanf("")} : points[0];
    if (closed && outline.area.weight != 0)
      write_ellipse(out, contour, first, ellipse_of_area(outline.area));
    else if (outline.length != 0)
      write_ellipse(out, contour, first, ellipse_of_line(line_of(points)));
    else
      write_ellipse(out, contour, first, Ellipse{});
    Range rows, cols;
    for (const Point& point : points) rows.add(point.row), cols.add(point.col);
    write_box(out, contour, rows, cols);
  }

  Scratch sorted_, hulls_, sources_;
};

}  // namespace

const StageType& measure_stage() {
  static const StageType type = contour_step({
    .name = "measure", .summary = "Measures area, perimeter, box, axes and form of every contour.",
    .gives = "The same contours, with their measures as attributes.",
    .params = declare(ParamList<MeasureParams>()), .example = "- type: measure\n",
    .make_cpu = [](const ParamSet&) -> std::unique_ptr<Stage> { return std::make_unique<MeasureCpu>(); },
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_measure_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
