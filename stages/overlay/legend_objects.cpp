// The numbers of objects in the legend, on the CPU.
#include "stages/overlay/legend_objects.h"

#include <algorithm>
#include <span>

#include "stages/overlay/painter.h"

namespace contorno {
namespace {

/// The outlines among the contours, by id, and of equal ids by their order.
std::span<std::uint32_t> find_outlines(const ContoursView& contours, const LegendWork& legend) {
  std::uint32_t* end = legend.outlines;
  for (std::uint32_t i = 0; i < contours.counts->contours; ++i)
    if (outlined(contours, i) != 0) *end++ = i;
  const double* const ids = contours.column(Attribute::Id);
  std::sort(legend.outlines, end,
            [&](std::uint32_t a, std::uint32_t b) { return ids[a] != ids[b] ? ids[a] < ids[b] : a < b; });
  return {legend.outlines, end};
}

std::uint64_t count_anew(const ContoursView& contours, std::span<const std::uint32_t> outlines,
                         const LegendState& before, LegendState& after) {
  after.so_far = before.so_far, after.newest = before.newest;
  for (const std::uint32_t i : outlines) {
    const std::uint64_t id = outlined(contours, i);
    if (!before.has(id)) ++after.so_far;
    after.newest = std::max(after.newest, id);
  }
  for (std::uint32_t at = 0; at < LegendState::kIds / 32; ++at)
    after.counted[at] = before.kept(at, after.newest);
  for (const std::uint32_t i : outlines) {
    const std::uint64_t id = outlined(contours, i);
    if (after.newest - id < LegendState::kIds) after.counted[LegendState::word(id)] |= LegendState::bit(id);
  }
  return after.so_far;
}

}  // namespace

/// Finds which outline each contour belongs to, and what shares of that are parts of.
void OverlayPainter::measure_objects(const ContoursView& contours, const LegendWork& legend,
                                     std::span<const std::uint32_t> outlines) const {
  const double *const ids = contours.column(Attribute::Id),
                      *const objects = contours.column(Attribute::Object),
                      *const shares = contours.column(Attribute::Share);
  for (const std::uint32_t i : outlines) legend.wholes[i] = plan_.legend_form.whole;
  for (int k = 0; k < contours.format.classes; ++k)
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i) {
      const auto owner = std::ranges::lower_bound(outlines, objects[i], {},
                                                  [&](std::uint32_t outline) { return ids[outline]; });
      const bool owned = owner != outlines.end() && ids[*owner] == objects[i];
      legend.owners[i] = owned ? *owner : LegendWork::kNoOwner;
      if (owned && plan_.wholes[static_cast<std::size_t>(k)])
        legend.wholes[*owner] += share_in_units(shares[i]);
    }
  for (const std::uint32_t i : outlines)
    if (!(shares[i] == shares[i]) || static_cast<long long>(legend.wholes[i]) < 0 ||
        std::ranges::any_of(contours.contour(i),
                            [&](const Point& point) { return is_at_border(contours, point); }))
      legend.wholes[i] = 0;
}

/// The largest share of a class, in tenths of a per cent; -1 where no object has shares.
int OverlayPainter::largest_share(const ContoursView& contours, const LegendWork& legend,
                                  std::span<const std::uint32_t> outlines, int k) const {
  for (const std::uint32_t i : outlines) legend.of_class[i] = 0;
  for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i)
    if (legend.owners[i] != LegendWork::kNoOwner)
      legend.of_class[legend.owners[i]] += share_in_units(contours.column(Attribute::Share)[i]);
  int largest = -1;
  for (const std::uint32_t i : outlines)
    if (legend.wholes[i] != 0) largest = std::max(largest, tenths_of(legend.of_class[i], legend.wholes[i]));
  return largest;
}

int OverlayPainter::count_objects(const OverlayWork& work) const {
  const ContoursView& contours = *work.contours;
  const std::span<const std::uint32_t> outlines = find_outlines(contours, work.legend);
  const std::uint64_t so_far = count_anew(contours, outlines, *work.state_before, *work.state_after);
  const auto size_of = [&](int n) { return stamp(n).size(); };
  LegendWriter writer(plan_.legend_form, size_of, work.legend_pieces);
  writer.objects(outlines.size(), so_far);
  if (plan_.has_shares()) {
    measure_objects(contours, work.legend, outlines);
    for (int k = 0; k < contours.format.classes; ++k)
      if (plan_.share_ends[static_cast<std::size_t>(k)].x >= 0)
        writer.share(plan_.share_ends[static_cast<std::size_t>(k)],
                     largest_share(contours, work.legend, outlines, k));
  }
  return writer.count();
}

}  // namespace contorno
