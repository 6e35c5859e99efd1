// Labels, for both backends: the bounding box of a contour on the image, the place of a label at such a box,
// whether two of them overlap, and the pictures that a label consists of. All in px of the image. Pure
// functions.
#pragma once

#include "stages/overlay/stage.h"

namespace contorno {

inline constexpr int kMaxLabels = 16;      ///< a class
inline constexpr int kMaxLabelFields = 4;  ///< attributes in a label
inline constexpr int kMaxLabelDecimals = 6;

/// A picture's upper left corner on the image; `stamp` is its index in OverlayPlan::stamps.
struct PlacedStamp {
  int x = 0, y = 0, stamp = 0;
};

struct StampSize {
  int width = 0, height = 0;
};

/// Places pictures side by side from right to left, the first of them with its right edge at `end`.
/// size_of(stamp) tells the size of a picture, put(PlacedStamp) gets each one with its place.
template <class SizeOf, class Put>
class LeftwardStamps {
 public:
  CONTORNO_HD LeftwardStamps(FramePoint end, const SizeOf& size_of, const Put& put)
      : x_(static_cast<int>(end.x)), y_(static_cast<int>(end.y)), size_of_(size_of), put_(put) {}

  CONTORNO_HD void stamp(int stamp) {
    x_ -= size_of_(stamp).width;
    put_(PlacedStamp{x_, y_, stamp});
  }
  /// The digits of a number without a sign; the picture of 0 is `digits`, those of 1 to 9 follow it.
  template <class Number>
  CONTORNO_HD void number(Number value, int digits) {
    do stamp(digits + static_cast<int>(value % 10));
    while ((value /= 10) != 0);
  }

 private:
  int x_, y_;
  const SizeOf& size_of_;
  const Put& put_;
};

/// A rectangle of pixels on the image.
struct PlacedBox {
  int x = 0, y = 0;
  StampSize size;
};

/// A label. Its pictures are the first `pieces` of the OverlayPlan::label_pieces that each label has in
/// OverlayWork::label_pieces (on CUDA Job::pieces), placed from the label's left top corner.
struct PlacedLabel {
  PlacedBox box;
  int pieces = 0;
};

/// A number of the contour in a label, or a text (Attribute::End) that is the same for all of a class.
struct LabelPart {
  Attribute attribute = Attribute::End;
  int decimals = 0;
};

/// What labels consist of; without parts each is one picture, that of its class.
struct LabelForm {
  static constexpr int kMaxParts = 2 * kMaxLabelFields + 1;
  int parts = 0;
  LabelPart part[kMaxParts];
};

/// The pictures of a class that labels are put together from, in this order; texts are the last ones.
enum LabelPicture : std::uint8_t { kDigitZero = 0, kPoint = 10, kMinus, kLeftEnd, kRightEnd, kFirstText };

/// The most glyphs of a number: 15 digits, a point and a minus.
inline constexpr int kMaxGlyphs = 17;

/// The pictures of a number, rounded to the nearest with so many decimals: a minus alone for what is none and
/// for what needs more than 15 digits. Gives how many there are.
CONTORNO_HD inline int glyphs_of(double value, int decimals, std::uint8_t* glyphs) {
  double scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const double scaled = (value < 0 ? -value : value) * scale + 0.5;
  if (!(scaled < 1e15)) {
    glyphs[0] = kMinus;
    return 1;
  }
  auto rest = static_cast<unsigned long long>(scaled);
  const bool negative = value < 0 && rest != 0;
  int count = 0;
  for (int place = 0; rest != 0 || place <= decimals; ++place, rest /= 10) {
    if (place == decimals && decimals > 0) glyphs[count++] = kPoint;
    glyphs[count++] = static_cast<std::uint8_t>(kDigitZero + rest % 10);
  }
  if (negative) glyphs[count++] = kMinus;
  for (int i = 0; i < count / 2; ++i) {
    const std::uint8_t last = glyphs[count - 1 - i];
    glyphs[count - 1 - i] = glyphs[i];
    glyphs[i] = last;
  }
  return count;
}

/// Puts the label of a contour together at (0, 0): its pictures, from left to right. `first` is the number of
/// its class's first one, `size_of(stamp)` tells the size of each, and `pieces` has room for
/// OverlayPlan::label_pieces. Gives its size and how many there are.
template <class SizeOf>
CONTORNO_HD inline PlacedLabel compose_label(const LabelForm& form, int first, const ContoursView& contours,
                                             std::uint32_t contour, const SizeOf& size_of,
                                             PlacedStamp* pieces) {
  PlacedLabel label;
  label.box.size.height = size_of(first).height;
  const auto add = [&](int stamp) {
    pieces[label.pieces++] = {label.box.size.width, 0, stamp};
    label.box.size.width += size_of(stamp).width;
  };
  if (form.parts == 0) {
    add(first);
    return label;
  }
  add(first + kLeftEnd);
  int text = first + kFirstText;
  for (int i = 0; i < form.parts; ++i) {
    if (form.part[i].attribute == Attribute::End) {
      add(text++);
      continue;
    }
    std::uint8_t glyphs[kMaxGlyphs];
    const int count =
        glyphs_of(contours.column(form.part[i].attribute)[contour], form.part[i].decimals, glyphs);
    for (int glyph = 0; glyph < count; ++glyph) add(first + glyphs[glyph]);
  }
  add(first + kRightEnd);
  return label;
}

/// The bounding box of a contour's points; begins as its first point. All 0 for a contour without points.
struct LabelBox {
  float left = 0, top = 0, right = 0, bottom = 0;
  CONTORNO_HD float area() const { return (right - left) * (bottom - top); }
  CONTORNO_HD void add(FramePoint p) {
    left = p.x < left ? p.x : left, right = p.x > right ? p.x : right;
    top = p.y < top ? p.y : top, bottom = p.y > bottom ? p.y : bottom;
  }
};

/// Whether a contour is counted in the legend and may have a label: where objects are followed (`track`),
/// holes are not, which have no id.
CONTORNO_HD inline bool is_counted(const ContoursView& contours, std::uint32_t contour) {
  const double* const ids = contours.column(Attribute::Id);
  return ids == nullptr || ids[contour] == ids[contour];
}

/// The least area of a contour's box to get a label of this size.
CONTORNO_HD inline float smallest_labelled(StampSize label) {
  return static_cast<float>(label.height) * static_cast<float>(label.height);
}

/// The place of a label: above the box, or inside it where there is no room above; moved into the image if it
/// fits there.
CONTORNO_HD inline PlacedBox label_at(const LabelBox& box, StampSize label, int width, int height) {
  constexpr int kGap = 3;
  int y = floor_to_int(box.top) - label.height - kGap;
  if (y < 0) y = floor_to_int(box.top) + kGap;
  if (y > height - label.height) y = height - label.height;
  int x = floor_to_int((box.left + box.right) / 2) - label.width / 2;
  if (x > width - label.width) x = width - label.width;
  return {x > 0 ? x : 0, y > 0 ? y : 0, label};
}

CONTORNO_HD inline bool are_apart(const PlacedBox& a, const PlacedBox& b) {
  return a.x + a.size.width <= b.x || b.x + b.size.width <= a.x || a.y + a.size.height <= b.y ||
         b.y + b.size.height <= a.y;
}

}  // namespace contorno
