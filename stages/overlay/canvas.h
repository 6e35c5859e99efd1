// Draws the small pictures of an overlay before the first frame: labels, digits and the legend.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stages/overlay/plan.h"

namespace contorno {

/// Shapes over each other with straight alpha, in double. Lengths are in px, from the left top corner.
class Canvas {
 public:
  Canvas(int width, int height) : width_(width), height_(height) {
    pixels_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  }

  void rounded_box(double x, double y, double width, double height, double radius, const Colour& colour) {
    for (int py = 0; py < height_; ++py) {
      for (int px = 0; px < width_; ++px) {
        const double qx = std::abs(px + 0.5 - x - width / 2) - width / 2 + radius;
        const double qy = std::abs(py + 0.5 - y - height / 2) - height / 2 + radius;
        const double outside = std::hypot(std::max(qx, 0.0), std::max(qy, 0.0));
        const double distance = outside + std::min(std::max(qx, qy), 0.0) - radius;
        over(px, py, colour, std::clamp(0.5 - distance, 0.0, 1.0));
      }
    }
  }
  void text(const TextBitmap& bitmap, int x, int y, const Colour& colour) {
    for (int ty = 0; ty < bitmap.height; ++ty)
      for (int tx = 0; tx < bitmap.width; ++tx)
        over(x + tx, y + ty, colour,
             bitmap.coverage[static_cast<std::size_t>(ty * bitmap.width + tx)] / 255.0);
  }
  Stamp stamp() const {
    Stamp result{width_, height_, {}};
    const auto byte = [](double v) { return static_cast<std::uint8_t>(std::lround(v)); };
    for (const Ink& p : pixels_)
      result.pixels.push_back({byte(p.red), byte(p.green), byte(p.blue), byte(p.alpha * 255)});
    return result;
  }

 private:
  struct Ink {
    double red = 0, green = 0, blue = 0, alpha = 0;
  };
  void over(int x, int y, const Colour& colour, double coverage) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    const double alpha = coverage * colour.alpha / 255.0;
    if (alpha <= 0) return;
    Ink& p =
        pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)];
    const double under = p.alpha * (1 - alpha), sum = alpha + under;
    const auto mix = [&](double below, double above) { return (above * alpha + below * under) / sum; };
    p = {mix(p.red, colour.red), mix(p.green, colour.green), mix(p.blue, colour.blue), sum};
  }

  int width_, height_;
  std::vector<Ink> pixels_;
};

}  // namespace contorno
