// The declaration of hierarchy, and its implementation on the CPU.
#include <algorithm>

#include "stages/contour_prep/hierarchy/rules.h"
#include "stages/contour_prep/hierarchy/stage.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_size.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

/// A contour that may be around others, in its list.
struct Listed {
  std::uint64_t list = 0;
  std::uint32_t contour = 0;
  bool operator<(const Listed& other) const { return list < other.list; }
};

/// A frame's contours with what is computed of each.
struct Nest {
  ContoursView contours;
  Box* boxes;
  std::uint64_t* areas;  ///< in units
  std::span<Listed> listed;
  unsigned levels = 0;  ///< a bit for each that has lists
};

nesting::Around around(const Nest& nest, std::uint32_t contour, unsigned of_class) {
  nesting::Around found;
  const std::span<const Point> points = nest.contours.contour(contour);
  if (points.empty()) return found;
  const Place place = nesting::place_of(points.data(), static_cast<std::uint32_t>(points.size()));
  const unsigned row = nesting::row_of(place.row);
  for (unsigned levels = nest.levels; levels != 0; levels &= levels - 1) {
    const int level = std::countr_zero(levels);
    const unsigned last = row >> level, first = last > 0 ? last - 1 : 0;
    auto one = std::lower_bound(nest.listed.begin(), nest.listed.end(),
                                Listed{nesting::list_of(of_class, level, first)});
    for (; one != nest.listed.end() && one->list <= nesting::list_of(of_class, level, last); ++one)
      if (nest.boxes[one->contour].has(place) && nest.areas[one->contour] > nest.areas[contour] &&
          is_inside(place, nest.contours.contour(one->contour)))
        found.add(one->contour, nest.areas[one->contour]);
  }
  return found;
}

class HierarchyCpu final : public AttributeStep {
 public:
  HierarchyCpu() : AttributeStep(Backend::Cpu, kHierarchyAttributes) {}

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    const auto take = [&](std::size_t bytes) {
      return context.temporary(format.contour_capacity * bytes, MemoryKind::Host);
    };
    boxes_ = take(sizeof(Box)), areas_ = take(sizeof(std::uint64_t)), listed_ = take(sizeof(Listed));
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    Nest nest{.contours = out,
              .boxes = context.scratch<Box>(boxes_),
              .areas = context.scratch<std::uint64_t>(areas_),
              .listed = {}};
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      sources[contour] = contour;
      nest.areas[contour] = size_in_units(ContourSize::Area, out, contour);
      nest.boxes[contour] = {};
      for (const Point& point : out.contour(contour)) nest.boxes[contour].add(point);
    });
    make_lists(nest, context.scratch<Listed>(listed_));
    for (int k = 0; k < out.format.classes; ++k) {
      const std::uint32_t first = out.class_begin[k], end = out.class_begin[k + 1];
      for_contours(context.threads, end - first, [&](std::uint32_t i) {
        nesting::write(out, first + i, around(nest, first + i, static_cast<unsigned>(k)));
      });
    }
  }

  static void make_lists(Nest& nest, Listed* listed) {
    Listed* end = listed;
    for (int k = 0; k < nest.contours.format.classes; ++k)
      for (std::uint32_t i = nest.contours.class_begin[k]; i < nest.contours.class_begin[k + 1]; ++i)
        if (nest.areas[i] > 0) *end++ = {nesting::list_of(static_cast<unsigned>(k), nest.boxes[i]), i};
    std::sort(listed, end);
    nest.listed = {listed, end};
    for (const Listed& one : nest.listed)
      nest.levels |= 1U << (one.list >> nesting::kRowBits) % nesting::kLevels;
  }

  Scratch boxes_, areas_, listed_;
};

}  // namespace

const StageType& hierarchy_stage() {
  static const StageType type = contour_step({
    .name = "hierarchy", .summary = "Finds which contours lie in which: parent and depth of every contour.",
    .gives = "The same contours, with their number, parent and depth as attributes.",
    .params = declare(ParamList<NoParams>()), .example = "- type: hierarchy\n",
    .make_cpu = make_step<HierarchyCpu, NoParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_hierarchy_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
