#include "stages/contour_prep/shared/new_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "geometry/attributes.h"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {

void HostNewPoints::plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                         const char* name) {
  plan_counts(context, in, out, name, MemoryKind::Host, MemoryKind::Host);
}

void HostNewPoints::plan_counts(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                                const char* name, MemoryKind memory, MemoryKind answers) {
  name_ = name, capacity_ = out.point_capacity;
  counts_ = context.temporary((in.contour_capacity + 1) * sizeof(std::uint64_t), memory);
  needed_ = context.scratch(sizeof(std::uint64_t), answers);
}

void HostNewPoints::place(const RunContext& context) const {
  const auto& in = std::get<ContoursView>(context.inputs[0]);
  const auto& out = std::get<ContoursView>(context.outputs[0]);
  auto& needed = *context.scratch<std::uint64_t>(needed_);
  needed = 0;
  if (!begin_output(in, out)) {  // nor may the output seem to fit
    out.counts->points = std::max(in.counts->points, capacity_ + 1);
    return;
  }
  const auto contours = static_cast<std::uint32_t>(in.counts->contours);
  const std::uint64_t* const counts = this->counts(context);
  for (std::uint32_t i = 0; i < contours; ++i) needed += counts[i];
  *out.counts = {needed, contours};
  if (!out.fits()) return;
  std::copy_n(in.class_begin, in.format.classes + 1, out.class_begin);
  std::copy_n(in.closed, contours, out.closed);
  for (std::uint32_t i = 0; i < contours; ++i) {
    out.offsets[i + 1] = out.offsets[i] + static_cast<std::uint32_t>(counts[i]);
    copy_attributes(in, i, out, i);
  }
}

std::uint64_t HostNewPoints::overflow(const RunContext& context) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t needed = *context.scratch<std::uint64_t>(needed_);
  if (needed > kMost)
    throw Error(ExitCode::BadData,
                fmt::format("{}: the contours of the frame would have {} points, allowed up to {}", name_,
                            needed, kMost));
  return needed > capacity_ ? needed : 0;
}

}  // namespace contorno
