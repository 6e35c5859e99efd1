// Mean shift of the pixels of one frame on the CPU: planes of their components, and where each pixel's climb
// ends. Components are the three coordinates of a colour in the space where distances are measured. Memory is
// the stage's scratch. Internal to mean_shift_filter and mean_shift_segment.
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
  /// Fills the planes from `in`; `scratch` has scratch_bytes() and is used until the next load. The plan
  /// given to the constructor must outlive the climber.
  void load(const ImageView& in, std::uint16_t* scratch, int threads);
  /// Where the climb of pixel (x, y) ends. Safe from any thread after load.
  ShiftEnd climb(int x, int y) const;
  /// The components of a pixel, in the low bytes as ShiftColours::place gives them.
  std::uint32_t place(int x, int y) const;

 private:
  static std::ptrdiff_t stride_of(const MeanShiftImagePlan& plan);

  const MeanShiftImagePlan& plan_;
  WindowSums sums_;
  ShiftPlanes places_, values_;
};

}  // namespace contorno
