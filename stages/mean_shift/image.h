// What mean_shift_filter and mean_shift_segment share: the rule of a step, the colour spaces, and the plan.
// All sums are of whole numbers, so their order does not matter. Rounding follows OpenCV's
// pyrMeanShiftFiltering, whose result the filter's result in RGB equals.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/graph/stage.h"
#include "stages/shared/colour.h"

namespace contorno {

enum class MeanShiftSpace : std::uint8_t { Rgb, Luv, Lab };

/// Parameters of both stages.
struct MeanShiftWindowParams {
  int spatial = 10;
  double colour = 20;
  MeanShiftSpace space = MeanShiftSpace::Rgb;
  int max_iterations = 5;
  double eps = 1;
};

inline constexpr int kMaxSpatial = 128;  // sums of 257 rows of 255 still fit into 16 bits
inline constexpr int kMaxShiftSteps = 100;

/// The pixels that take part in a step, and when a climb ends.
struct MeanShiftWindow {
  int spatial = 10;  ///< px: largest |dx| and |dy| of a member
  int limit = 400;   ///< largest squared distance of a member's components
  int max_iterations = 5;
  double eps = 1;  ///< a climb ends when |dx| + |dy| + squared shift of components is not above it
  int width = 0, height = 0;
};

/// The centre of a window: position in px and colour components, as whole numbers.
struct ShiftState {
  int x = 0, y = 0;
  int c[3] = {0, 0, 0};
};

/// Sums over the pixels that belong to a window: their number, positions and components.
struct ShiftSums {
  int count = 0;
  int x = 0, y = 0;
  int c[3] = {0, 0, 0};
};

/// sum / count, rounded to the nearest, ties to even; computed with the reciprocal of count, as in OpenCV.
CONTORNO_HD inline int rounded_mean(int sum, double reciprocal) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  return static_cast<int>((static_cast<double>(sum) * reciprocal + kRound) - kRound);
}

CONTORNO_HD inline int squared(int v) {
  return v * v;
}

/// Moves `state` to the mean of the window. True if that was the last step. `sums.count` is not 0.
CONTORNO_HD inline bool shift_to_mean(const MeanShiftWindow& window, const ShiftSums& sums,
                                      ShiftState& state) {
  const double reciprocal = 1.0 / static_cast<double>(sums.count);
  ShiftState next;
  next.x = rounded_mean(sums.x, reciprocal), next.y = rounded_mean(sums.y, reciprocal);
  int colour = 0;
  for (int k = 0; k < 3; ++k) {
    next.c[k] = rounded_mean(sums.c[k], reciprocal);
    colour += squared(next.c[k] - state.c[k]);
  }
  const int dx = next.x > state.x ? next.x - state.x : state.x - next.x;
  const int dy = next.y > state.y ? next.y - state.y : state.y - next.y;
  state = next;
  return dx + dy == 0 || static_cast<double>(dx + dy + colour) <= window.eps;
}

/// From sRGB bytes to three components 0..255 in which distances are measured. Steps of 1 in RGB; of 1 / 1.25
/// in CIE L*a*b* and 1 / 0.98 in CIE L*u*v* (D65), so that all of sRGB fits.
struct ShiftColours {
  MeanShiftSpace space = MeanShiftSpace::Rgb;
  const float* decode = nullptr;  ///< srgb_decode_table

  static constexpr float kLabScale = 1.25F, kLuvScale = 0.98F;

  CONTORNO_HD static float f_of_lab(float t) {
    return t > 0.008856452F ? cube_root(t) : 7.787037F * t + 0.13793103F;
  }
  CONTORNO_HD static std::uint32_t byte(float v) {
    const float clamped = v > 0.0F ? (v < 255.0F ? v : 255.0F) : 0.0F;
    return static_cast<std::uint32_t>(static_cast<int>(clamped + 0.5F));
  }
  /// The three components in the low bytes, first lowest.
  CONTORNO_HD std::uint32_t place(std::uint8_t red, std::uint8_t green, std::uint8_t blue) const {
    if (space == MeanShiftSpace::Rgb)
      return static_cast<std::uint32_t>(red) | static_cast<std::uint32_t>(green) << 8U |
             static_cast<std::uint32_t>(blue) << 16U;
    const float r = decode[red], g = decode[green], b = decode[blue];
    const float x = 0.4124564F * r + 0.3575761F * g + 0.1804375F * b;
    const float y = 0.2126729F * r + 0.7151522F * g + 0.0721750F * b;
    const float z = 0.0193339F * r + 0.1191920F * g + 0.9503041F * b;
    const float fy = f_of_lab(y);
    const float lightness = 116.0F * fy - 16.0F;
    if (space == MeanShiftSpace::Lab) {
      const float a = 500.0F * (f_of_lab(x / 0.9504700F) - fy);
      const float blues = 200.0F * (fy - f_of_lab(z / 1.0888300F));
      return byte(lightness * kLabScale) | byte((a + 87.0F) * kLabScale) << 8U |
             byte((blues + 108.5F) * kLabScale) << 16U;
    }
    const float sum = x + 15.0F * y + 3.0F * z;
    const float share = sum > 0.0F ? 1.0F / sum : 0.0F;
    // Black has the chromaticity of white.
    const float u = sum > 0.0F ? 13.0F * lightness * (4.0F * x * share - 0.1978398F) : 0.0F;
    const float v = sum > 0.0F ? 13.0F * lightness * (9.0F * y * share - 0.4683363F) : 0.0F;
    return byte(lightness * kLuvScale) | byte((u + 84.0F) * kLuvScale) << 8U |
           byte((v + 135.0F) * kLuvScale) << 16U;
  }
};

/// What both stages compute before the first frame.
struct MeanShiftImagePlan {
  ImageFormat in;
  MeanShiftWindow window;
  ShiftColours colours;  ///< without the address of its table
  std::array<float, 256> decode{};
};

/// Throws Error(BadConfig) for an image that does not fit; `stage` is for the message.
MeanShiftImagePlan make_mean_shift_image_plan(const char* stage, const MeanShiftWindowParams& params,
                                              const ImageFormat& in);

/// The parameters that both stages have; `P` derives from MeanShiftWindowParams.
template <class P>
void add_window_params(ParamList<P>& list) {
  list.integer("spatial", static_cast<int P::*>(&P::spatial), 1, kMaxSpatial, Unit::Pixels,
               "Half the side of the window: pixels up to so far away along x and y belong to it.");
  list.number(
      "colour", static_cast<double P::*>(&P::colour), 0, 255, Unit::Levels,
      "Distance in colour up to which pixels belong to the window: levels of 255 in rgb, CIE units in luv "
      "and lab.");
  list.choice("space", static_cast<MeanShiftSpace P::*>(&P::space),
              {{"rgb", MeanShiftSpace::Rgb}, {"luv", MeanShiftSpace::Luv}, {"lab", MeanShiftSpace::Lab}},
              "Where distances in colour are measured; luv and lab follow the eye.");
  list.integer("max_iterations", static_cast<int P::*>(&P::max_iterations), 1, kMaxShiftSteps, Unit::None,
               "Steps after which a pixel's climb ends.");
  list.number("eps", static_cast<double P::*>(&P::eps), 0, 1000, Unit::None,
              "A climb ends when |dx| + |dy| + the squared shift in colour is not above it.");
}

}  // namespace contorno
