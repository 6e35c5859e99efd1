#include "stages/contour_prep/shared/contour_order.h"

#include <algorithm>

#include "geometry/attributes.h"
#include "geometry/own_points.h"

namespace contorno {

bool begin_output(const ContoursView& in, const ContoursView& out) {
  std::fill_n(out.class_begin, out.format.classes + 1, 0U);
  out.offsets[0] = 0;
  const bool fits = in.fits();
  *out.counts = fits ? ContourCounts{} : *in.counts;
  return fits;
}

void gather_contours(const ContoursView& in, const std::uint32_t* sources, const ContoursView& out,
                     const std::uint32_t* starts) {
  const std::uint32_t contours = out.class_begin[out.format.classes];
  for (std::uint32_t i = 0; i < contours; ++i) {
    const std::span<const Point> points = in.contour(sources[i]);
    const auto count = static_cast<std::uint32_t>(points.size());
    Point* const to = out.points + out.offsets[i];
    if (starts == nullptr || starts[sources[i]] == 0)
      std::copy(points.begin(), points.end(), to);
    else
      for (std::uint32_t k = 0; k < count; ++k)
        to[k] = points[drawn_point(count, in.closed[sources[i]] != 0, starts[sources[i]], k)];
    out.offsets[i + 1] = out.offsets[i] + count;
    out.closed[i] = in.closed[sources[i]];
    copy_attributes(in, sources[i], out, i);
  }
  *out.counts = {.points = out.offsets[contours], .contours = contours};
}

void HostChoice::plan(PlanContext& context, const ContoursFormat& format) {
  chosen_ = context.temporary(format.contour_capacity, MemoryKind::Host);
  sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
}

void HostChoice::write(const RunContext& context) const {
  const auto& in = std::get<ContoursView>(context.inputs[0]);
  const auto& out = std::get<ContoursView>(context.outputs[0]);
  if (!begin_output(in, out)) return;
  const std::uint8_t* const chosen = this->chosen(context);
  auto* const sources = context.scratch<std::uint32_t>(sources_);
  std::uint32_t kept = 0;
  for (int k = 0; k < in.format.classes; ++k) {
    for (std::uint32_t contour = in.class_begin[k]; contour < in.class_begin[k + 1]; ++contour)
      if (chosen[contour] != 0) sources[kept++] = contour;
    out.class_begin[k + 1] = kept;
  }
  gather_contours(in, sources, out);
}

}  // namespace contorno
