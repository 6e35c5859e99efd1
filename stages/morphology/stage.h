// Mathematical morphology on images and class maps: the stages `morphology`, `hit_or_miss` and
// `reconstruction`, and the same operations as functions for callers that have views.
//
// Input: uint8, uint16 or float32; grey, RGB, RGBA, or planes (class maps). Every channel is worked on by
// itself.
//
// Output: an image of the same format.
//
// Memory: a few rows a thread on the CPU; an image where borders need pixels from far away; a queue of
// samples for reconstructions.
//
// Both backends give the same bits, because every result is a minimum or maximum of integers (float32 samples
// are ordered by their bits, see OrderedFloat): neither the order of evaluation nor tiles nor threads change
// it.
//
// Definitions: Serra 1982; A. Albertini, Univ. of Bologna, 2019, ch. 4, with the signs of Eq. 25 as in the
// textbooks; reconstruction: L. Vincent, IEEE Trans. Image Processing 2(2), 1993.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/morphology/structuring_element.h"
#include "stages/shared/simd.h"

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
  double border_value = 0;  ///< with MorphologyBorder::Constant
  AlphaRule alpha = AlphaRule::Keep;
  DilationElement dilation_element = DilationElement::Reflected;
  ErosionHeights erosion_heights = ErosionHeights::Subtracted;
  Neighbours neighbours = Neighbours::Eight;  ///< of operations by reconstruction
};

/// How the functions below run. No result depends on it.
struct MorphologyExecution {
  int threads = 1;
  Simd simd = best_simd();
};

/// `out` = `operation` of `in` with `element`. Both views have the same format and do not overlap: uint8,
/// uint16 or float32, interleaved with 1 to 4 channels or planar. Differences are 0 where they would be
/// negative. Throws Error(BadConfig) for formats, heights and border values that do not fit.
void apply_morphology(MorphologyOperation operation, const ImageView& in, const StructuringElement& element,
                      const ImageView& out, const MorphologyOptions& options = {},
                      const MorphologyExecution& execution = {});

/// The minimum of two erosions: of the image by `hit`, and of its complement (full - f, full = 255, 65535 or
/// 1) by `miss`. On images of 0 and full this marks the places where both elements fit. Views as for
/// apply_morphology. Throws Error(BadConfig) when the elements share an offset, and as apply_morphology does.
void apply_hit_or_miss(const ImageView& in, const StructuringElement& hit, const StructuringElement& miss,
                       const ImageView& out, const MorphologyOptions& options = {},
                       const MorphologyExecution& execution = {});

/// With ReconstructionMethod::Dilation the fixed point of R <- min(dilation of R by the neighbours, mask),
/// beginning with R = min(marker, mask); with Erosion the dual. Of `options` only `alpha` and `neighbours`
/// are used; with AlphaRule::Keep alpha is the mask's. Throws Error(BadConfig) when the formats differ.
void apply_reconstruction(ReconstructionMethod method, const ImageView& marker, const ImageView& mask,
                          const ImageView& out, const MorphologyOptions& options = {},
                          const MorphologyExecution& execution = {});

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

/// The CUDA implementations; only in builds that have CUDA.
std::unique_ptr<Stage> make_morphology_cuda(const ParamSet& params);
std::unique_ptr<Stage> make_hit_or_miss_cuda(const ParamSet& params);
std::unique_ptr<Stage> make_reconstruction_cuda(const ParamSet& params);

const StageType& morphology_stage();
const StageType& hit_or_miss_stage();
const StageType& reconstruction_stage();

}  // namespace contorno
