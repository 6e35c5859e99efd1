// The declaration of largest_first, and its implementation on the CPU.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "geometry/contour_loop.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

/// A contour that is sorted: its size and its number.
struct Sized {
  std::uint64_t size = 0;
  std::uint32_t contour = 0;
  /// Sorts the largest first; of one size, the earlier one.
  bool operator<(const Sized& other) const {
    return size != other.size ? size > other.size : contour < other.contour;
  }
};

class LargestFirstCpu final : public Stage {
 public:
  explicit LargestFirstCpu(const LargestFirstParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ContoursFormat& format = checked_contours(context);
    sorted_ = context.temporary(format.contour_capacity * sizeof(Sized), MemoryKind::Host);
    sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    Sized* const sorted = context.scratch<Sized>(sorted_);
    auto* const sources = context.scratch<std::uint32_t>(sources_);
    for_contours(context.threads, in.counts->contours, [&](std::uint32_t contour) {
      sorted[contour] = {size_in_units(OneThread{}, params_.by, in, contour), contour};
    });
    std::uint32_t next = 0;
    for (int k = 0; k < in.format.classes; ++k) {
      Sized* const begin = sorted + in.class_begin[k];
      const std::uint32_t count = in.class_begin[k + 1] - in.class_begin[k];
      const std::uint32_t kept =
          params_.limit > 0 ? std::min(count, static_cast<std::uint32_t>(params_.limit)) : count;
      std::partial_sort(begin, begin + kept, begin + count);
      for (std::uint32_t i = 0; i < kept; ++i) sources[next++] = begin[i].contour;
      out.class_begin[k + 1] = next;
    }
    gather_contours(in, sources, out);
  }

  std::optional<Scratch> selection() const override { return sources_; }

 private:
  LargestFirstParams params_;
  Scratch sorted_, sources_;
};

ParamDeclaration largest_first_params() {
  ParamList<LargestFirstParams> list;
  list.choice("by", &LargestFirstParams::by,
              {{"points", ContourSize::Points}, {"length", ContourSize::Length}, {"area", ContourSize::Area}},
              "What the size of a contour is. The area of an open contour is 0, that of a hole counts like "
              "any other.");
  list.integer("limit", &LargestFirstParams::limit, 0, 1000000000, Unit::None,
               "At most so many contours of each class are kept; 0 keeps all.");
  return declare(list);
}

}  // namespace

const ContoursFormat& checked_contours(const PlanContext& context) {
  const auto& format = std::get<ContoursFormat>(context.input(0));
  if (format.classes > kMostSizedClasses)
    throw Error(ExitCode::BadConfig,
                fmt::format("largest_first: contours of {} classes were given, allowed up to {}",
                            format.classes, kMostSizedClasses));
  return format;
}

const StageType& largest_first_stage() {
  static const StageType type = contour_step({
      .name = "largest_first",
      .summary = "Sorts the contours of each class by size, and keeps the largest.",
      .gives = "The largest of them, the largest first.",
      .params = largest_first_params(),
      .example = "- type: largest_first\n  by: area\n  limit: 20\n",
      .make_cpu = make_step<LargestFirstCpu, LargestFirstParams>,
      .make_cuda = on_cuda<make_largest_first_cuda>(),
  });
  return type;
}

}  // namespace contorno
