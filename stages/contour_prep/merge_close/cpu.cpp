// The declaration of merge_close, and its implementation on the CPU. Contours with points in one bin are
// joined at once; points of two bins are compared only while the contours there are not joined yet.
#include <algorithm>
#include <numeric>

#include "geometry/own_points.h"
#include "pipeline/shared/loops.h"
#include "stages/contour_prep/merge_close/stage.h"
#include "stages/contour_prep/shared/bins.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

/// Sets of contours, each known by its first contour.
class ContourSets {
 public:
  /// `parents` has an element a contour, each its own parent at first.
  explicit ContourSets(std::uint32_t* parents) : parents_(parents) {}

  std::uint32_t find(std::uint32_t contour) const {
    while (parents_[contour] != contour) contour = parents_[contour] = parents_[parents_[contour]];
    return contour;
  }
  void join(std::uint32_t a, std::uint32_t b) const {
    a = find(a), b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::uint32_t* parents_;
};

struct MergeArrays {
  BinTable::Memory bins;
  std::uint32_t* contour_of = nullptr;  ///< the contour of each point
  /// Arrays with an element a contour: what ContourSets keeps, the last member of the set that begins with
  /// the contour, and the member behind the contour in its set.
  std::uint32_t *first = nullptr, *last = nullptr, *next = nullptr;

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    bins.arrays(take, format);
    take(contour_of, format.point_capacity);
    for (auto** one : {&first, &last, &next}) take(*one, format.contour_capacity);
  }
};

class MergeCloseCpu final : public Stage {
 public:
  explicit MergeCloseCpu(const MergeCloseParams& params) : nearness_(params.distance) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    arrays_.plan(context, MemoryKind::Host, format, MergeArrays{});
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    const auto arrays = arrays_.of(context, MergeArrays{});
    std::iota(arrays.first, arrays.first + in.counts->contours, 0U);
    for_tasks(context.threads, in.format.classes, [&](int k) { join_class(arrays, in, k); });
    write(arrays, in, out);
  }

 private:
  void join_class(const MergeArrays& arrays, const ContoursView& in, int k) const {
    const std::uint32_t first = in.offsets[in.class_begin[k]], end = in.offsets[in.class_begin[k + 1]];
    if (first == end) return;
    BinTable table(arrays.bins, first, end);
    const ContourSets sets(arrays.first);
    std::uint32_t* const contour_of = arrays.contour_of;
    for (std::uint32_t c = in.class_begin[k]; c < in.class_begin[k + 1]; ++c) {
      const OwnPoints own(in, c);
      for (std::uint32_t i = own.begin; i < own.end; ++i) {
        if (!is_finite(in.points[i])) continue;
        std::uint32_t& newest = table.newest_in(nearness_.bin_of(in.points[i]));
        if (newest != BinTable::kNone && newest < own.begin) sets.join(contour_of[newest], c);
        contour_of[i] = c;
        table.push(newest, i);
      }
    }
    for (const BinTable::Entry& entry : table.bins())
      for (int number = 1; number <= kBinsAround / 2; ++number) {
        const Bin bin = bin_around(entry.bin, number);
        const std::uint32_t other = table.newest(bin, BinHash(bin));
        if (other == BinTable::kNone) continue;
        const std::uint32_t a = contour_of[entry.newest], b = contour_of[other];
        if (sets.find(a) != sets.find(b) && any_near(table, in.points, entry.newest, other)) sets.join(a, b);
      }
  }

  /// Whether points of two lists of the table are near each other.
  bool any_near(const BinTable& table, const Point* points, std::uint32_t list, std::uint32_t other) const {
    for (std::uint32_t i = list; i != BinTable::kNone; i = table.older(i))
      for (std::uint32_t j = other; j != BinTable::kNone; j = table.older(j))
        if (nearness_(points[i], points[j])) return true;
    return false;
  }

  static void write(const MergeArrays& arrays, const ContoursView& in, const ContoursView& out) {
    const ContourSets sets(arrays.first);
    std::uint32_t *const last = arrays.last, *const next = arrays.next;
    const auto contours = static_cast<std::uint32_t>(in.counts->contours);
    // The members of each set as a list, from the first one to the last.
    for (std::uint32_t c = 0; c < contours; ++c) {
      const std::uint32_t first = sets.find(c);
      if (first != c) next[last[first]] = c;
      last[first] = next[c] = c;
    }
    ContourWriter writer(out);
    for (int k = 0; k < in.format.classes; ++k) {
      for (std::uint32_t c = in.class_begin[k]; c < in.class_begin[k + 1]; ++c)
        if (sets.find(c) == c) write_set(in, c, last[c], next, writer);
      out.class_begin[k + 1] = static_cast<std::uint32_t>(writer.counts().contours);
    }
    *out.counts = writer.counts();
  }

  static void write_set(const ContoursView& in, std::uint32_t first, std::uint32_t last,
                        const std::uint32_t* next, ContourWriter& writer) {
    if (first == last) return writer.add_contour(in, first);
    for (std::uint32_t c = first;; c = next[c]) {
      const OwnPoints own(in, c);
      writer.add_points(own.points, own.count);
      if (c == last) break;
    }
    writer.end_contour(in, first, false);
  }

  Nearness nearness_;
  PlannedArrays arrays_;
};

ParamDeclaration merge_close_params() {
  ParamList<MergeCloseParams> list;
  list.number("distance", &MergeCloseParams::distance, 0.001, 1e9, Unit::Pixels,
              "Contours with points nearer to each other than this are joined.");
  return declare(list);
}

}  // namespace

const StageType& merge_close_stage() {
  static const StageType type = contour_step({
      .name = "merge_close",
      .summary = "Joins contours of a class that come near each other.",
      .gives = "The contours; what was joined is open, in the place of its first member.",
      .params = merge_close_params(),
      .example = "- type: merge_close\n  distance: 5\n",
      .make_cpu = make_step<MergeCloseCpu, MergeCloseParams>,
      .make_cuda = on_cuda<make_merge_close_cuda>(),
  });
  return type;
}

}  // namespace contorno
