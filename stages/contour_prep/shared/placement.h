// Where the contours of an output come to lie, on the device. Every contour of the input is a word that says
// what it gives: how many contours (0 or 1) above bit 32, and how many points below. Of the words that come
// before one, the sum says where that lies which it gives. The functions of kernels are in placement.cuh.
#pragma once

#include "stages/contour_prep/shared/prefix_sum.h"

namespace contorno {

/// What kernels see.
struct PlacementView {
  ContoursView in, out;
  /// The order in which the contours of `in` come, class by class; null: their own.
  const unsigned* order = nullptr;
  /// In that order, a contour of the capacity and one more; behind ContourPlacement::add_up, the sums of
  /// those before.
  unsigned long long* words = nullptr;
  unsigned* sources = nullptr;  ///< the contour of `in` that each one of `out` comes from
};

/// Its memory, and the sums.
class ContourPlacement {
 public:
  /// Asks for scratch, as part of the stage's plan: 12 bytes a contour.
  void plan(PlanContext& context, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    words_ = context.temporary((contours + 1) * sizeof(unsigned long long), MemoryKind::Device);
    sources_ = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
    sum_.plan(context, contours + 1);
  }
  PlacementView view(const RunContext& context, const unsigned* order = nullptr) const {
    return {.in = std::get<ContoursView>(context.inputs[0]),
            .out = std::get<ContoursView>(context.outputs[0]),
            .order = order,
            .words = context.scratch<unsigned long long>(words_),
            .sources = context.scratch<unsigned>(sources_)};
  }
  /// Enqueues the sums.
  void add_up(const RunContext& context) const {
    sum_.run(context, context.scratch<unsigned long long>(words_));
  }
  /// See Stage::selection.
  Scratch sources() const { return sources_; }

 private:
  PrefixSum sum_;
  Scratch words_, sources_;
};

}  // namespace contorno
