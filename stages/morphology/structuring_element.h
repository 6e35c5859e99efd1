// Structuring elements: which neighbours of a pixel a morphological operation looks at, and the height of
// each. An element is a w x h mask with an anchor; its offsets are (x - anchor_x, y - anchor_y) for every
// member (x, y). Elements are values and may be copied; they belong to no backend and no image.
//
// Shapes: Serra, Image Analysis and Mathematical Morphology, 1982; the ellipse's rows are OpenCV's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/value/mask.h"

namespace contorno {

/// A member of an element: (x, y) from the anchor, y down, and its height (0 when the element is flat).
struct ElementOffset {
  int x = 0, y = 0;
  double height = 0;
  bool operator==(const ElementOffset&) const = default;
};

class StructuringElement {
 public:
  static constexpr int kMaxSide = Mask::kMaxSide;

  // Shapes of width x height px. All throw Error(BadConfig) for sides outside 1..kMaxSide.
  static StructuringElement rectangle(int width, int height);
  /// The row and the column through the default anchor.
  static StructuringElement cross(int width, int height);
  /// Row i has the cells c - dx .. c + dx, dx = round(c sqrt(1 - ((i - r) / r)^2)), c = w div 2, r = h div 2.
  static StructuringElement ellipse(int width, int height);
  /// Pixels whose centres lie within a circle around the middle: x^2 + y^2 <= r^2, r = (d - 1) / 2 for odd
  /// diameters and d / 2 for even ones.
  static StructuringElement disk(int diameter);
  static StructuringElement diamond(int width, int height);
  /// A square with cut corners; regular when width = height.
  static StructuringElement octagon(int width, int height);
  /// `length` pixels through the anchor at `degrees` from the x axis, counter-clockwise as seen.
  static StructuringElement line(int length, double degrees);

  /// Members are the pixels with a value above `threshold`. Throws Error(BadConfig) when there is none.
  static StructuringElement from_mask(const Mask& mask, double threshold = 0);
  /// The members of from_mask, each with its value as its height.
  static StructuringElement from_heights(const Mask& mask, double threshold = 0);

  /// This element with another anchor, 0 <= x < width, 0 <= y < height (default: width div 2, height div 2).
  /// Throws Error(BadConfig) when it lies outside.
  StructuringElement with_anchor(int x, int y) const;
  /// This element with heights, row-major, one for every pixel of the box. Throws Error(BadConfig) when their
  /// number is wrong or one is not finite.
  StructuringElement with_heights(std::span<const double> heights) const;
  /// Every offset (x, y) becomes (-x, -y) with the same height.
  StructuringElement reflected() const;
  /// Every height h becomes -h.
  StructuringElement negated() const;

  int width() const { return width_; }
  int height() const { return height_; }
  int anchor_x() const { return anchor_x_; }
  int anchor_y() const { return anchor_y_; }
  bool flat() const { return heights_.empty(); }
  bool member(int x, int y) const { return mask_[index(x, y)] != 0; }
  double height_at(int x, int y) const { return heights_.empty() ? 0 : heights_[index(x, y)]; }
  /// All members, by rows.
  std::vector<ElementOffset> offsets() const;

  bool operator==(const StructuringElement&) const = default;

 private:
  StructuringElement(int width, int height);
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  /// Sets the members for which `inside(x, y)` holds.
  template <class F>
  static StructuringElement filled(int width, int height, const F& inside);

  int width_, height_, anchor_x_, anchor_y_;
  std::vector<std::uint8_t> mask_;
  std::vector<double> heights_;  ///< empty when the element is flat
};

}  // namespace contorno
