// The functions of each instruction set, among which mean_shift_lanes chooses. The argument's value is not
// used; its type chooses the overload. Internal.
#pragma once

#include "stages/mean_shift/lanes.h"

namespace contorno {

const MeanShiftLanes<float>& mean_shift_lanes_portable(float);
const MeanShiftLanes<double>& mean_shift_lanes_portable(double);
#if defined(__x86_64__)
const MeanShiftLanes<float>& mean_shift_lanes_avx2(float);
const MeanShiftLanes<double>& mean_shift_lanes_avx2(double);
const MeanShiftLanes<float>& mean_shift_lanes_avx512(float);
const MeanShiftLanes<double>& mean_shift_lanes_avx512(double);
#endif

}  // namespace contorno
