// An ordered list of steps, each of which takes contours and gives contours; steps may take maps as well. It
// stands for a stage a step: each has its time, its memory and its name, NODE_STEP, and what lies between
// them stays where it is: on CUDA nothing of it is downloaded.
//
// Input: contours of any stage.
//
// Output: the contours that the last step gives.
#pragma once

#include "pipeline/graph/stage.h"
#include "pipeline/graph/steps.h"

namespace contorno {

struct ContourPrepParams {
  SharedSteps steps;  ///< at least one
};

/// The stages that may be steps: from contours to contours.
const StepTypes& contour_steps();

const StageType& contour_prep_stage();
/// contour_prep with the steps of a program, contour_steps() and its own, for the catalogue of that program.
StageType contour_prep_with(const StepTypes& (*steps)());

}  // namespace contorno
