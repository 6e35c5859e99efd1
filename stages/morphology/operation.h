// Which morphological operations there are, their options, and the order of float32 samples: what the
// functions and stages of stage.h and the code of both backends have in common.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "base/host_device.h"

namespace contorno {

enum class MorphologyOperation : std::uint8_t {
  Erosion,
  Dilation,
  Opening,
  Closing,
  Gradient,          ///< dilation - erosion
  InternalGradient,  ///< image - erosion
  ExternalGradient,  ///< dilation - image
  TopHat,            ///< image - opening
  BlackHat,          ///< closing - image
  OpeningByReconstruction,
  ClosingByReconstruction,
};

/// What lies outside of the image. With Identity nothing does: only pixels inside take part. It is the only
/// border with which, for every element, an opening never brightens a pixel and a closing never darkens one.
enum class MorphologyBorder : std::uint8_t { Identity, Replicate, Reflect, Reflect101, Wrap, Constant };
/// Whether the alpha channel is copied from the input or worked on like the others.
enum class AlphaRule : std::uint8_t { Keep, Process };
/// Whether a dilation turns the element by half a turn (the definition) or not (OpenCV).
enum class DilationElement : std::uint8_t { Reflected, AsGiven };
/// The sign of heights in an erosion: f - h (the definition) or f + h (the paper's Eq. 25).
enum class ErosionHeights : std::uint8_t { Subtracted, Added };
enum class ReconstructionMethod : std::uint8_t { Dilation, Erosion };
/// How many neighbours a pixel has in a reconstruction.
enum class Neighbours : std::uint8_t { Four, Eight };

struct MorphologyOptions {
  MorphologyBorder border = MorphologyBorder::Identity;
  double border_value = 0;  ///< value beyond the image, with MorphologyBorder::Constant
  AlphaRule alpha = AlphaRule::Keep;
  DilationElement dilation_element = DilationElement::Reflected;
  ErosionHeights erosion_heights = ErosionHeights::Subtracted;
  Neighbours neighbours = Neighbours::Eight;  ///< neighbours of a pixel, for operations by reconstruction
};

/// float32 samples as integers of the same order: -0 below +0, and every NaN, whatever its bits, above
/// infinity. Minimum and maximum are then those of a complete lattice, so that the laws of openings and
/// closings hold for every image.
struct OrderedFloat {
  static constexpr std::int32_t kNothing = std::numeric_limits<std::int32_t>::max();  ///< above all samples
  static constexpr std::int32_t kInfinity = 0x7f800000;
  static constexpr std::int32_t kMinusInfinity = static_cast<std::int32_t>(0x807fffffU);

  CONTORNO_HD static std::int32_t flip(std::int32_t bits) { return bits ^ ((bits >> 31) & 0x7fffffff); }
  CONTORNO_HD static std::int32_t from(float value) {
    return value == value ? flip(std::bit_cast<std::int32_t>(value)) : 0x7fc00000;
  }
  CONTORNO_HD static float to(std::int32_t key) { return std::bit_cast<float>(flip(key)); }
};

}  // namespace contorno
