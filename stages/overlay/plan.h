// What an overlay computes before the first frame: pens, and the pictures of legend, labels and digits. Made
// on the host when the stage is planned; both backends then only copy the pictures to their places.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "stages/overlay/legend_objects.h"

namespace contorno {

/// A small picture with straight (not premultiplied) alpha, blended as it is.
struct Stamp {
  int width = 0, height = 0;
  std::vector<Colour> pixels;
  StampSize size() const { return {width, height}; }
};

struct OverlayPlan {
  ImageFormat format;  ///< of the frame and of what is drawn
  OverlayGrid grid;
  PointTransform transform;
  OverlayBorder border;
  std::vector<OverlayPen> pens;
  std::vector<int> slots;  ///< number of each class among the filled ones, -1 = not filled
  int filled = 0;
  std::vector<Stamp> stamps;
  int legend = -1;  ///< number of the legend's stamp, -1 = none
  PlacedStamp legend_place;
  int first_digit = -1;                ///< number of the stamp of "0"; -1 = counts are not drawn
  std::vector<FramePoint> count_ends;  ///< right end and top of each class's count; x < 0 = none
  LegendForm legend_form;
  std::vector<FramePoint> share_ends;  ///< right end and top of each class's share; x < 0 = none
  std::vector<bool> wholes;            ///< ClassSpec::whole of each class
  std::vector<int> labels;             ///< number of the first stamp of each class's labels, -1 = none
  LabelForm label_form;
  int label_pieces = 1;  ///< pictures of a label, at most

  bool has_shares() const {
    return std::ranges::any_of(share_ends, [](const FramePoint& end) { return end.x >= 0; });
  }
};

/// Checks the formats of frame and contours. Throws Error(BadConfig) when they do not fit.
OverlayPlan make_overlay_plan(const OverlayParams& params, const PlanContext& context);

}  // namespace contorno
