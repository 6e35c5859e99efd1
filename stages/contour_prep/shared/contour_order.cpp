#include "stages/contour_prep/shared/contour_order.h"

#include <algorithm>

namespace contorno {

void gather_contours(const ContoursView& in, const std::uint32_t* sources, const std::uint32_t* class_begin,
                     const ContoursView& out) {
  *out.counts = *in.counts;
  out.offsets[0] = 0;
  if (!in.fits()) {
    std::fill_n(out.class_begin, out.format.classes + 1, 0U);
    return;
  }
  std::copy_n(class_begin, out.format.classes + 1, out.class_begin);
  const std::uint32_t contours = class_begin[in.format.classes];
  for (std::uint32_t i = 0; i < contours; ++i) {
    const std::span<const Point> points = in.contour(sources[i]);
    std::copy(points.begin(), points.end(), out.points + out.offsets[i]);
    out.offsets[i + 1] = out.offsets[i] + static_cast<std::uint32_t>(points.size());
    out.closed[i] = in.closed[sources[i]];
  }
  *out.counts = {.points = out.offsets[contours], .contours = contours};
}

}  // namespace contorno
