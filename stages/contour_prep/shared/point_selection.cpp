#include "stages/contour_prep/shared/point_selection.h"

#include <algorithm>

namespace contorno {
namespace {

/// Appends what remains of one contour at out.points[at]; returns how many points are stored for it.
std::uint32_t append_kept(const ContoursView& in, std::uint32_t contour, const std::uint8_t* keep,
                          const ContoursView& out, std::uint32_t place, std::uint32_t at) {
  const std::uint32_t begin = in.offsets[contour];
  const bool closed = in.closed[contour] != 0;
  const std::uint32_t points = in.offsets[contour + 1] - begin, end = begin + own_points(points, closed);
  std::uint32_t kept = 0;
  // Every point is written, and the next one over it if it goes: which ones do cannot be predicted. There is
  // room, because no more points are kept than were read.
  for (std::uint32_t i = begin; i < end; ++i) {
    out.points[at + kept] = in.points[i];
    kept += keep[i] != 0 ? 1 : 0;
  }
  if (kept == 0) return 0;
  out.closed[place] = stays_closed(points, closed, kept) ? 1 : 0;
  const std::uint32_t stored = stored_points(points, closed, kept);
  if (stored > kept) out.points[at + kept] = out.points[at];
  return stored;
}

}  // namespace

void select_points(const ContoursView& in, const std::uint8_t* keep, const ContoursView& out,
                   std::uint32_t* sources) {
  std::fill_n(out.class_begin, out.format.classes + 1, 0U);
  out.offsets[0] = 0;
  *out.counts = *in.counts;
  if (!in.fits()) return;
  std::uint32_t place = 0;
  for (int k = 0; k < in.format.classes; ++k) {
    for (std::uint32_t i = in.class_begin[k]; i < in.class_begin[k + 1]; ++i) {
      const std::uint32_t at = out.offsets[place], stored = append_kept(in, i, keep, out, place, at);
      if (stored == 0) continue;
      if (sources != nullptr) sources[place] = i;
      out.offsets[++place] = at + stored;
    }
    out.class_begin[k + 1] = place;
  }
  *out.counts = {.points = out.offsets[place], .contours = place};
}

}  // namespace contorno
