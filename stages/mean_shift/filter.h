// Mean shift filter: every pixel climbs to the mean of what is near it in place and in colour, and takes the
// colour that it finds there. Nearly flat parts of the image become flat, and edges stay sharp.
// docs/reference/mean-shift.md has the mathematics.
//
// Input: an image, uint8: grey, RGB or RGBA, interleaved.
//
// Output: an image of the same format; alpha is that of the input.
//
// Memory: 6 bytes a pixel on the CPU (12 in Luv and Lab), 4 on CUDA (8).
//
// Both backends give the same bits, because all sums are whole numbers; shift_to_mean and ShiftColours run on
// both.
#pragma once

#include <memory>

#include "stages/mean_shift/image.h"

namespace contorno {

struct MeanShiftFilterParams : MeanShiftWindowParams {};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_mean_shift_filter_cuda(const ParamSet& params);

const StageType& mean_shift_filter_stage();

}  // namespace contorno
