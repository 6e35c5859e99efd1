// The declaration of drop_duplicates, and its implementation on the CPU: one pass over the points of a class,
// in which bins remember the points that drop others.
#include "pipeline/shared/loops.h"
#include "stages/contour_prep/drop_duplicates/stage.h"
#include "stages/contour_prep/shared/bins.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

class DropDuplicatesCpu final : public Stage {
 public:
  explicit DropDuplicatesCpu(const DropDuplicatesParams& params)
      : nearness_(params.distance), rule_(params.rule) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    bins_.plan(context, MemoryKind::Host, format, BinTable::Memory{});
    selection_.plan(context, format);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    auto* const keep = selection_.keep(context);
    const auto bins = bins_.of(context, BinTable::Memory{});
    if (in.fits())
      for_tasks(context.threads, in.format.classes, [&](int k) { mark_class(bins, in, k, keep); });
    selection_.run(context);
  }

 private:
  void mark_class(const BinTable::Memory& bins, const ContoursView& in, int k, std::uint8_t* keep) const {
    const std::uint32_t first = in.offsets[in.class_begin[k]], end = in.offsets[in.class_begin[k + 1]];
    if (first == end) return;
    BinTable table(bins, first, end);
    std::uint32_t last = BinTable::kNone;
    for (std::uint32_t c = in.class_begin[k]; c < in.class_begin[k + 1]; ++c) {
      const OwnPoints own(in, c);
      for (std::uint32_t i = own.begin; i < own.end; ++i)
        keep[i] = is_kept(table, in.points, i, last) ? 1 : 0;
    }
  }

  /// Whether point `i` is kept; enters it into the table if it can drop others. `last` is the last point that
  /// was entered: as a contour goes on, many points are near it.
  bool is_kept(BinTable& table, const Point* points, std::uint32_t i, std::uint32_t& last) const {
    if (!is_finite(points[i])) return true;
    bool dropped = last != BinTable::kNone && nearness_(points[last], points[i]);
    if (dropped && rule_ == DuplicateRule::KeptEarlier) return false;
    const Bin bin = nearness_.bin_of(points[i]);
    std::uint32_t& newest = table.newest_in(bin);
    dropped = dropped || newest != BinTable::kNone || is_near_others(table, points, points[i], bin);
    if (!dropped || rule_ == DuplicateRule::AnyEarlier) {
      table.push(newest, i);
      last = i;
    }
    return !dropped;
  }

  bool is_near_others(const BinTable& table, const Point* points, const Point& point, const Bin& bin) const {
    for (BinsAround around(nearness_, point, bin); around.next();)
      for (std::uint32_t i = table.newest(around.bin(), around.hash()); i != BinTable::kNone;
           i = table.older(i))
        if (nearness_(points[i], point)) return true;
    return false;
  }

  Nearness nearness_;
  DuplicateRule rule_;
  PlannedArrays bins_;
  HostSelection selection_;
};

ParamDeclaration drop_duplicates_params() {
  ParamList<DropDuplicatesParams> list;
  list.number("distance", &DropDuplicatesParams::distance, 0, 1e9, Unit::Pixels,
              "Points nearer to each other than this are duplicates; equal points always are.");
  list.choice("rule", &DropDuplicatesParams::rule,
              {{"kept_earlier", DuplicateRule::KeptEarlier}, {"any_earlier", DuplicateRule::AnyEarlier}},
              "By which earlier points a point is dropped: by those that are kept, or by all.");
  return declare(list);
}

}  // namespace

const StageType& drop_duplicates_stage() {
  static const StageType type = contour_step({
      .name = "drop_duplicates",
      .summary = "Leaves out points that are near an earlier point of their class.",
      .gives = "The points that remain, in their order and their contours.",
      .params = drop_duplicates_params(),
      .example = "- type: drop_duplicates\n  distance: 2\n",
      .make_cpu = make_step<DropDuplicatesCpu, DropDuplicatesParams>,
      .make_cuda = on_cuda<make_drop_duplicates_cuda>(),
  });
  return type;
}

}  // namespace contorno
