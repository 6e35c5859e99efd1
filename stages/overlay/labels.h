// Where labels are drawn, for both backends: the bounding box of a contour on the image, the place of a label
// at such a box, and whether two pictures overlap. All in px of the image. Pure functions.
#pragma once

#include "stages/overlay/stage.h"

namespace contorno {

inline constexpr int kMaxLabels = 16;  ///< a class

/// A picture's upper left corner on the image; `stamp` is its index in OverlayPlan::stamps.
struct PlacedStamp {
  int x = 0, y = 0, stamp = 0;
};

struct StampSize {
  int width = 0, height = 0;
};

/// The bounding box of a contour's points; all 0 for a contour without points.
struct LabelBox {
  float left = 0, top = 0, right = 0, bottom = 0;
  CONTORNO_HD float area() const { return (right - left) * (bottom - top); }
  CONTORNO_HD void add(FramePoint p) {
    left = p.x < left ? p.x : left, right = p.x > right ? p.x : right;
    top = p.y < top ? p.y : top, bottom = p.y > bottom ? p.y : bottom;
  }
};

/// The least area of a contour's box to get a label of this size.
CONTORNO_HD inline float smallest_labelled(StampSize label) {
  return static_cast<float>(label.height) * static_cast<float>(label.height);
}

/// The place of a label: above the box, or inside it where there is no room above; within the image if it
/// fits there.
CONTORNO_HD inline PlacedStamp label_at(const LabelBox& box, int stamp, StampSize label, int width,
                                        int height) {
  constexpr int kGap = 3;
  int y = floor_to_int(box.top) - label.height - kGap;
  if (y < 0) {
    const int below = floor_to_int(box.top) + kGap, last = height - label.height;
    y = below < last ? below : last;
  }
  int x = floor_to_int((box.left + box.right) / 2) - label.width / 2;
  if (x > width - label.width) x = width - label.width;
  return {x > 0 ? x : 0, y > 0 ? y : 0, stamp};
}

CONTORNO_HD inline bool are_apart(const PlacedStamp& a, StampSize size_a, const PlacedStamp& b,
                                  StampSize size_b) {
  return a.x + size_a.width <= b.x || b.x + size_b.width <= a.x || a.y + size_a.height <= b.y ||
         b.y + size_b.height <= a.y;
}

}  // namespace contorno
