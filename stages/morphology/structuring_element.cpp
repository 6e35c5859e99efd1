#include "stages/morphology/structuring_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/error.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "structuring element: " + sentence);
}

/// Twice the distance of pixel `i` from the middle of `side` pixels, and twice the radius that they span: so
/// that even sides need no halves.
struct Doubled {
  std::int64_t at, radius;
};
Doubled doubled(int i, int side) {
  return {2 * static_cast<std::int64_t>(i) - (side - 1), side % 2 == 1 ? side - 1 : side};
}

}  // namespace

StructuringElement::StructuringElement(int width, int height)
    : width_(width), height_(height), anchor_x_(width / 2), anchor_y_(height / 2) {
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    refuse(fmt::format("the size is {}x{}, allowed 1 to {} px a side", width, height, kMaxSide));
  mask_.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
}

template <class F>
StructuringElement StructuringElement::filled(int width, int height, const F& inside) {
  StructuringElement element(width, height);
  bool any = false;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (inside(x, y)) element.mask_[element.index(x, y)] = 1, any = true;
  if (!any) refuse("the mask has no member");
  return element;
}

StructuringElement StructuringElement::rectangle(int width, int height) {
  return filled(width, height, [](int, int) { return true; });
}

StructuringElement StructuringElement::cross(int width, int height) {
  return filled(width, height, [=](int x, int y) { return x == width / 2 || y == height / 2; });
}

StructuringElement StructuringElement::ellipse(int width, int height) {
  const int r = height / 2, c = width / 2;
  std::vector<int> reach(static_cast<std::size_t>(std::max(height, 1)), 0);
  for (int y = 0; y < height; ++y) {
    const double dy = y - r, rows = r;
    if (r > 0)
      reach[static_cast<std::size_t>(y)] =
          static_cast<int>(std::nearbyint(c * std::sqrt((rows * rows - dy * dy) / (rows * rows))));
  }
  return filled(width, height,
                [&](int x, int y) { return std::abs(x - c) <= reach[static_cast<std::size_t>(y)]; });
}

StructuringElement StructuringElement::disk(int diameter) {
  return filled(diameter, diameter, [=](int x, int y) {
    const auto [dx, radius] = doubled(x, diameter);
    const std::int64_t dy = doubled(y, diameter).at;
    return dx * dx + dy * dy <= radius * radius;
  });
}

StructuringElement StructuringElement::diamond(int width, int height) {
  return filled(width, height, [=](int x, int y) {
    const auto [dx, rx] = doubled(x, width);
    const auto [dy, ry] = doubled(y, height);
    return std::abs(dx) * ry + std::abs(dy) * rx <= rx * ry;
  });
}

StructuringElement StructuringElement::octagon(int width, int height) {
  return filled(width, height, [=](int x, int y) {
    const auto [dx, rx] = doubled(x, width);
    const auto [dy, ry] = doubled(y, height);
    // Half a pixel beyond the corner's chord, so that small octagons are not diamonds.
    return static_cast<double>(std::abs(dx) * ry + std::abs(dy) * rx) <=
           std::numbers::sqrt2 * static_cast<double>(rx * ry) + static_cast<double>(rx + ry) / 2;
  });
}

StructuringElement StructuringElement::line(int length, double degrees) {
  if (length < 1 || length > kMaxSide)
    refuse(fmt::format("the line's length is {}, allowed 1 to {} px", length, kMaxSide));
  const double angle = degrees / 180 * std::numbers::pi;
  const double dx = std::cos(angle), dy = -std::sin(angle);
  const double longer = std::max(std::abs(dx), std::abs(dy));
  std::vector<std::pair<int, int>> cells;
  int left = 0, right = 0, top = 0, bottom = 0;
  for (int k = -(length / 2); k < length - length / 2; ++k) {
    const int x = static_cast<int>(std::lround(k * dx / longer)),
              y = static_cast<int>(std::lround(k * dy / longer));
    cells.emplace_back(x, y);
    left = std::min(left, x), right = std::max(right, x), top = std::min(top, y),
    bottom = std::max(bottom, y);
  }
  StructuringElement element(right - left + 1, bottom - top + 1);
  for (const auto& [x, y] : cells) element.mask_[element.index(x - left, y - top)] = 1;
  return element.with_anchor(-left, -top);
}

StructuringElement StructuringElement::from_mask(const Mask& mask, double threshold) {
  StructuringElement shape(mask.width, mask.height);
  if (mask.values.size() != shape.mask_.size())
    refuse(fmt::format("a mask of {}x{} has {} values", mask.width, mask.height, mask.values.size()));
  return filled(mask.width, mask.height,
                [&](int x, int y) { return mask.values[shape.index(x, y)] > threshold; });
}

StructuringElement StructuringElement::from_heights(const Mask& mask, double threshold) {
  return from_mask(mask, threshold).with_heights(mask.values);
}

StructuringElement StructuringElement::with_anchor(int x, int y) const {
  if (x < 0 || y < 0 || x >= width_ || y >= height_)
    refuse(fmt::format("the anchor [{}, {}] lies outside of the {}x{} element", x, y, width_, height_));
  StructuringElement element = *this;
  element.anchor_x_ = x, element.anchor_y_ = y;
  return element;
}

StructuringElement StructuringElement::with_heights(std::span<const double> heights) const {
  if (heights.size() != mask_.size())
    refuse(fmt::format("there are {} heights, allowed one for each of the {}x{} pixels", heights.size(),
                       width_, height_));
  StructuringElement element = *this;
  element.heights_.assign(heights.begin(), heights.end());
  for (std::size_t i = 0; i < mask_.size(); ++i) {
    if (mask_[i] == 0)
      element.heights_[i] = 0;
    else if (!std::isfinite(heights[i]))
      refuse(fmt::format("the height {} at [{}, {}] is not a finite number", heights[i],
                         i % static_cast<std::size_t>(width_), i / static_cast<std::size_t>(width_)));
  }
  return element;
}

StructuringElement StructuringElement::reflected() const {
  StructuringElement element = *this;
  std::reverse(element.mask_.begin(), element.mask_.end());
  std::reverse(element.heights_.begin(), element.heights_.end());
  element.anchor_x_ = width_ - 1 - anchor_x_, element.anchor_y_ = height_ - 1 - anchor_y_;
  return element;
}

StructuringElement StructuringElement::negated() const {
  StructuringElement element = *this;
  for (double& height : element.heights_) height = -height;
  return element;
}

std::vector<ElementOffset> StructuringElement::offsets() const {
  std::vector<ElementOffset> all;
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x)
      if (member(x, y)) all.push_back({x - anchor_x_, y - anchor_y_, height_at(x, y)});
  return all;
}

}  // namespace contorno
