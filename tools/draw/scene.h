// Paints the frames of an animation of drawing machines: circles, arms, and the line as far as it is drawn,
// by the stage overlay. What it borrows outlives it; used by one thread at a time.
#pragma once

#include <span>

#include "pipeline/graph/applied.h"
#include "tools/draw/machine.h"

namespace contorno {

inline constexpr Colour kDrawingPaper{16, 20, 27}, kDrawingCircle{53, 99, 128}, kDrawingArm{255, 176, 72},
    kDrawingLine{243, 239, 228};

/// The size of a picture and where points of the map lie on it.
struct DrawingSize {
  int map_width = 0, map_height = 0, width = 0, height = 0;
  Placement placement() const {
    return {.scale_x = static_cast<double>(width) / map_width,
            .scale_y = static_cast<double>(height) / map_height};
  }
};

class ScenePainter {
 public:
  ScenePainter(std::span<const Machine> machines, const DrawingSize& size, Backend backend);

  /// Paints the line up to `shown` of its points, and the machine that draws there, unless that is all.
  void paint(std::uint64_t shown);
  /// RGB; valid until the next paint.
  const ImageView& view() const { return std::get<ImageView>(stage_.output(0)); }

 private:
  void add(std::span<const fourier::Complex> points);
  std::vector<fourier::Complex> joints_at(std::uint64_t shown) const;
  void add_circles(std::span<const fourier::Complex> joints);
  void end_class(std::size_t k);

  std::span<const Machine> machines_;
  std::uint64_t all_;
  double scale_;
  AppliedStage stage_;
};

}  // namespace contorno
