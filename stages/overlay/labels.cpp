#include <algorithm>

#include "stages/overlay/painter.h"

namespace contorno {
namespace {

LabelBox box_of(const OverlayWork& work, std::uint32_t from, std::uint32_t to) {
  if (from >= to) return {};
  LabelBox box{work.points[from].x, work.points[from].y, work.points[from].x, work.points[from].y};
  for (std::uint32_t i = from + 1; i < to; ++i) box.add(work.points[i]);
  return box;
}

}  // namespace

int OverlayPainter::place_labels(const OverlayWork& work, int a_class) const {
  int count = 0;
  for (int k = 0; k < work.contours->format.classes; ++k) {
    const int number = plan_.labels[static_cast<std::size_t>(k)];
    if (number < 0 || pen(k).hidden) continue;
    std::array<Labelled, kMaxLabels> best{};
    const int found = largest(work, k, a_class, best);
    for (int i = 0; i < found; ++i) {
      const Labelled& one = best[static_cast<std::size_t>(i)];
      PlacedLabel label = compose_label(
          plan_.label_form, number, *work.contours, one.contour, [&](int n) { return stamp(n).size(); },
          pieces_of(work, count));
      label.box = label_at(one.box, label.box.size, grid_.width, grid_.height);
      if (is_free(label.box, work.labels, count)) work.labels[count++] = label;
    }
  }
  return count;
}

int OverlayPainter::largest(const OverlayWork& work, int k, int wanted,
                            std::array<Labelled, kMaxLabels>& best) const {
  const ContoursView& contours = *work.contours;
  const float smallest = smallest_labelled(stamp(plan_.labels[static_cast<std::size_t>(k)]).size());
  int found = 0;
  for (std::uint32_t c = contours.class_begin[k]; c < contours.class_begin[k + 1]; ++c) {
    if (!is_counted(contours, c)) continue;
    const LabelBox box = box_of(work, contours.offsets[c], contours.offsets[c + 1]);
    if (!(box.area() >= smallest)) continue;
    int at = std::min(found, wanted);
    while (at > 0 && best[static_cast<std::size_t>(at - 1)].box.area() < box.area()) --at;
    if (at == wanted) continue;
    found = std::min(found + 1, wanted);
    for (int i = found - 1; i > at; --i)
      best[static_cast<std::size_t>(i)] = best[static_cast<std::size_t>(i - 1)];
    best[static_cast<std::size_t>(at)] = {box, c};
  }
  return found;
}

bool OverlayPainter::is_free(const PlacedBox& label, const PlacedLabel* placed, int count) const {
  const PlacedStamp& legend = plan_.legend_place;
  if (plan_.legend >= 0 && !are_apart(label, {legend.x, legend.y, stamp(legend.stamp).size()})) return false;
  return std::all_of(placed, placed + count,
                     [&](const PlacedLabel& other) { return are_apart(label, other.box); });
}

}  // namespace contorno
