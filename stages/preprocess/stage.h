// Preprocess: brings a frame into the form that later stages want, in one pass and always in this order:
// crop, resize, colour, number type.
//
// Input: an image, uint8, float16 or float32: 1, 3 or 4 interleaved channels (grey, RGB, RGBA), or planes
// (class maps).
//
// Output: the image, placed on the frame: contours found on it are drawn where they belong.
//
// Memory: one row of floats a thread.
//
// Both backends give the same bits, because every output sample is the sum of Resample in its order, followed
// by FinishPixel. The CPU shares the sums down the columns between the samples of a row, which changes none.
#pragma once

#include <bit>
#include <type_traits>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/preprocess/resample.h"
#include "stages/shared/colour.h"
#include "stages/shared/sample_value.h"

namespace contorno {

enum class PreprocessColour : std::uint8_t { Keep, Grey, Rgb, Rgba, Hsv, Hsl };
enum class PreprocessOutput : std::uint8_t { Same, Uint8, Float32 };

struct PreprocessParams {
  std::vector<double> crop;
  std::vector<double> size;
  ResampleFilter filter = ResampleFilter::Auto;
  PreprocessColour colour = PreprocessColour::Keep;
  PreprocessOutput output = PreprocessOutput::Same;
  double scale = 0;
  std::vector<double> mean;
  std::vector<double> deviation;
};

inline constexpr int kMaxPixelChannels = 4;

/// From the resampled channels of a pixel to what is stored: colour, then v * gain + bias.
struct FinishPixel {
  PreprocessColour colour = PreprocessColour::Keep;
  int channels_in = 0, channels_out = 0;
  float full = 255;  ///< full value of a component: 255 for uint8 input, 1 for floating point
  float gain[kMaxPixelChannels] = {1, 1, 1, 1}, bias[kMaxPixelChannels] = {0, 0, 0, 0};
  bool normalise = false;

  /// Whether an output channel needs more than the input channel of its number.
  CONTORNO_HD bool mixes_channels() const {
    return colour != PreprocessColour::Keep && !(colour == PreprocessColour::Grey && channels_in == 1);
  }

  /// `in` and `out` have room for kMaxPixelChannels and may be the same.
  CONTORNO_HD void operator()(const float* in, float* out) const {
    const float red = in[0], green = channels_in > 1 ? in[1] : red, blue = channels_in > 1 ? in[2] : red;
    const float alpha = channels_in == 4 ? in[3] : full;
    if (colour == PreprocessColour::Grey && channels_in > 1) {
      out[0] = luma_of(red, green, blue);
    } else if (colour == PreprocessColour::Hsv || colour == PreprocessColour::Hsl) {
      const Triple hue_first = colour == PreprocessColour::Hsv
                                   ? hsv_of(red / full, green / full, blue / full)
                                   : hsl_of(red / full, green / full, blue / full);
      out[0] = hue_first.x * full, out[1] = hue_first.y * full, out[2] = hue_first.z * full;
    } else {
      out[0] = red, out[1] = green, out[2] = blue, out[3] = alpha;
    }
    if (normalise)
      for (int c = 0; c < channels_out; ++c) out[c] = out[c] * gain[c] + bias[c];
  }
};

/// A sample as it is computed with; exact.
template <class T>
CONTORNO_HD float float_of(T sample) {
  if constexpr (std::is_same_v<T, Half>)
    return half_to_float(sample);
  else
    return static_cast<float>(sample);
}

/// Rounded to the nearest, halves up, saturated; NaN becomes 0.
CONTORNO_HD inline std::uint8_t to_byte(float value) {
  const float clamped = value > 0.0F ? (value < 255.0F ? value : 255.0F) : 0.0F;
  return static_cast<std::uint8_t>(static_cast<int>(clamped + 0.5F));
}

/// A channel that no other one touches: value * gain + bias, the value itself where that says nothing.
CONTORNO_HD inline float finish_one(float value, float gain, float bias) {
  return gain == 1.0F && bias == 0.0F ? value : value * gain + bias;
}

/// A value as it lies in the output. Every NaN becomes the same one, because arithmetic gives others on other
/// machines.
template <class T>
CONTORNO_HD T stored(float value) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return to_byte(value);
  else
    return value == value ? value : std::bit_cast<float>(0x7fc00000U);
}

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_preprocess_cuda(const ParamSet& params);

const StageType& preprocess_stage();

}  // namespace contorno
