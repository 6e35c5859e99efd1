// The declaration of order_nearest, and its implementation on the CPU.
#include <algorithm>

#include "stages/contour_prep/order_nearest/box_tree.h"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

class OrderNearestCpu final : public Stage {
 public:
  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    tree_ = context.temporary(BoxTree::bytes(format), MemoryKind::Host);
    sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
    visited_ = context.temporary(format.contour_capacity, MemoryKind::Host);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    auto* const sources = context.scratch<std::uint32_t>(sources_);
    BoxTree tree(in.format, context.scratch<std::byte>(tree_));
    for (int k = 0; k < in.format.classes; ++k) {
      const std::uint32_t first = in.class_begin[k], last = in.class_begin[k + 1];
      if (first < last)
        order(tree, in, first, last, context.scratch<std::uint8_t>(visited_), sources + first);
      out.class_begin[k + 1] = last;
    }
    gather_contours(in, sources, out);
  }

  std::optional<Scratch> selection() const override { return sources_; }

 private:
  /// Writes the numbers of contours [first, last) in their order. `visited` has a flag for each contour.
  static void order(BoxTree& tree, const ContoursView& in, std::uint32_t first, std::uint32_t last,
                    std::uint8_t* visited, std::uint32_t* sources) {
    tree.build(in, first, last);
    std::fill(visited + first, visited + last, std::uint8_t{0});
    std::uint32_t current = first, next_in_order = first;
    for (std::uint32_t placed = 0; placed < last - first; ++placed) {
      sources[placed] = current;
      visited[current] = 1;
      tree.remove(current);
      current = tree.nearest(current).contour;
      if (current != BoxTree::Nearest::kNone) continue;
      // All that are left are infinitely far, or there is none.
      while (next_in_order < last && visited[next_in_order] != 0) ++next_in_order;
      current = next_in_order;
    }
  }

  Scratch tree_, sources_, visited_;
};

}  // namespace

const StageType& order_nearest_stage() {
  static const StageType type = contour_step({
    .name = "order_nearest",
    .summary = "Orders the contours of each class so that each is followed by the nearest one left.",
    .gives = "The same contours, with short ways in between.", .params = declare(ParamList<NoParams>()),
    .example = "- type: order_nearest\n", .make_cpu = make_step<OrderNearestCpu, NoParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_order_nearest_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
