#include "stages/contour_prep/shared/point_selection.h"

#include "geometry/attributes.h"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {
namespace {

/// Appends what remains of one contour at out.points[at]; returns how many points are stored for it.
std::uint32_t append_kept(const ContoursView& in, std::uint32_t contour, const std::uint8_t* keep,
                          const ContoursView& out, std::uint32_t place, std::uint32_t at) {
  const OwnPoints own(in, contour);
  const std::uint32_t points = in.offsets[contour + 1] - own.begin;
  std::uint32_t kept = 0;
  // Every point is written, and the next one over it if it goes: which ones do cannot be predicted. There is
  // room, because no more points are kept than were read.
  for (std::uint32_t i = own.begin; i < own.end; ++i) {
    out.points[at + kept] = in.points[i];
    kept += keep[i] != 0 ? 1 : 0;
  }
  if (kept == 0) return 0;
  out.closed[place] = stays_closed(points, own.closed, kept) ? 1 : 0;
  const std::uint32_t stored = stored_points(points, own.closed, kept);
  if (stored > kept) out.points[at + kept] = out.points[at];
  return stored;
}

}  // namespace

void select_points(const ContoursView& in, const std::uint8_t* keep, const ContoursView& out) {
  if (!begin_output(in, out)) return;
  std::uint32_t place = 0;
  for (int k = 0; k < in.format.classes; ++k) {
    for (std::uint32_t i = in.class_begin[k]; i < in.class_begin[k + 1]; ++i) {
      const std::uint32_t at = out.offsets[place], stored = append_kept(in, i, keep, out, place, at);
      if (stored == 0) continue;
      copy_attributes(in, i, out, place);
      out.offsets[++place] = at + stored;
    }
    out.class_begin[k + 1] = place;
  }
  *out.counts = {.points = out.offsets[place], .contours = place};
}

}  // namespace contorno
