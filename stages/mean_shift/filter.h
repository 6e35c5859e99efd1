// Mean shift filter: every pixel climbs to the mean of what is near it in place and in colour, and takes the
// colour that it finds there. Flat where the image is nearly flat, sharp along edges.
// docs/reference/mean-shift.md.
//
// Input    an image, uint8: grey, RGB or RGBA, interleaved.
// Output   an image of the same format; alpha is that of the input.
// Memory   CPU: 6 bytes a pixel (12 in Luv and Lab); CUDA: 4 (8).
// Equal bits because all sums are whole numbers; shift_to_mean and ShiftColours run on both backends.
#pragma once

#include <memory>

#include "stages/mean_shift/image.h"

namespace contorno {

struct MeanShiftFilterParams : MeanShiftWindowParams {};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_mean_shift_filter_cuda(const ParamSet& params);

const StageType& mean_shift_filter_stage();

}  // namespace contorno
