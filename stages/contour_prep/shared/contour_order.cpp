#include "stages/contour_prep/shared/contour_order.h"

#include <algorithm>

#include "stages/contour_prep/shared/attributes.h"
#include "stages/contour_prep/shared/own_points.h"

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

}  // namespace contorno
