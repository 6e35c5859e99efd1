// Paints the frames of an animation of drawing machines: circles, arms, and the line as far as it is drawn.
// These are contours of three classes, which the stage overlay draws on an empty picture. Used by one thread
// at a time.
#pragma once

#include <span>

#include "pipeline/graph/applied.h"
#include "tools/draw/machine.h"

namespace contorno {

/// The colours of drawings; the palette of a GIF is made of mixtures of them.
inline constexpr Colour kDrawingPaper{16, 20, 27}, kDrawingCircle{53, 99, 128}, kDrawingArm{255, 176, 72},
    kDrawingLine{243, 239, 228};

/// The sizes, px, of the map that contours were found in and of the picture that shows them.
struct DrawingSize {
  int map_width = 0, map_height = 0, width = 0, height = 0;
  /// Where points of the map lie on the picture.
  Placement placement() const {
    return {.scale_x = static_cast<double>(width) / map_width,
            .scale_y = static_cast<double>(height) / map_height};
  }
};

class ScenePainter {
 public:
  /// The machines must outlive the painter. Throws what AppliedStage throws: Error(Unavailable, OutOfMemory).
  ScenePainter(std::span<const Machine> machines, const DrawingSize& size, Backend backend);

  /// Paints the first `shown` points of all lines, and the machine that draws the last of these; no machine
  /// when `shown` is 0 or all (line_points).
  void paint(std::uint64_t shown);
  /// What was painted: height x width x 3 uint8 (RGB), valid until the next paint.
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
