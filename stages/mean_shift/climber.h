// The image mean shift of one frame on the CPU: planes of components, and where every pixel's climb ends.
// Memory is the stage's scratch. Internal to mean_shift_filter and mean_shift_segment.
#pragma once

#include <cstdint>

#include "stages/mean_shift/window.h"

namespace contorno {

/// Where a pixel came to rest.
struct ShiftEnd {
  ShiftState state;          ///< position and components
  std::uint8_t colour[3]{};  ///< mean colour of its last window, in the image's channels
};

class ImageClimber {
 public:
  ImageClimber(const MeanShiftImagePlan& plan, Simd simd);

  static std::size_t scratch_bytes(const MeanShiftImagePlan& plan);
  /// `scratch` holds scratch_bytes; `plan` outlives the climber.
  void load(const ImageView& in, std::uint16_t* scratch, int threads);
  ShiftEnd climb(int x, int y) const;
  /// Components of a pixel.
  std::uint32_t place(int x, int y) const;

 private:
  static std::ptrdiff_t stride_of(const MeanShiftImagePlan& plan);

  const MeanShiftImagePlan& plan_;
  WindowSums sums_;
  ShiftPlanes places_, values_;
};

}  // namespace contorno
