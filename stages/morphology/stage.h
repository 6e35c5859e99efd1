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
// Definitions: Serra 1982; A. Albertini, Univ. of Bologna, academic year 2018/2019, ch. 4, with the signs of
// Eq. 25 as in the textbooks; reconstruction: L. Vincent, IEEE Trans. Image Processing 2(2), 1993.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"
#include "stages/morphology/operation.h"
#include "stages/morphology/structuring_element.h"
#include "stages/shared/simd.h"

namespace contorno {

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

/// The CUDA implementations; only in builds that have CUDA.
std::unique_ptr<Stage> make_morphology_cuda(const ParamSet& params);
std::unique_ptr<Stage> make_hit_or_miss_cuda(const ParamSet& params);
std::unique_ptr<Stage> make_reconstruction_cuda(const ParamSet& params);

const StageType& morphology_stage();
const StageType& hit_or_miss_stage();
const StageType& reconstruction_stage();

}  // namespace contorno
