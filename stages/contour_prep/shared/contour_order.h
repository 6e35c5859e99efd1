// Whole contours in another order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pipeline/graph/stage.h"

namespace contorno {

/// Writes contours of `in` to `out`, which has room for them: contour sources[i] becomes contour i, and class
/// k has those with class_begin[k] <= i < class_begin[k + 1]. When `in` does not fit its capacities, `out`
/// gets its counts and nothing else: the frame runs again with more room.
void gather_contours(const ContoursView& in, const std::uint32_t* sources, const std::uint32_t* class_begin,
                     const ContoursView& out);

/// The same on the device, with at most so many contours of each class.
class ContourOrder {
 public:
  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// The numbers of all contours, class by class, in their new order: one for each contour that there is room
  /// for. The stage's kernels write it before `run`.
  std::uint32_t* sorted(const RunContext& context) const { return context.scratch<std::uint32_t>(sorted_); }
  /// Of each class the first `limit` contours of its order are written.
  void run(const RunContext& context, const ContoursView& in, const ContoursView& out, unsigned limit) const;
  /// See Stage::selection.
  Scratch sources() const { return sources_; }

 private:
  unsigned blocks_ = 1;
  std::size_t scanning_ = 0;  // bytes that the scan works in
  Scratch library_, sorted_, lengths_, sources_;
};

}  // namespace contorno
