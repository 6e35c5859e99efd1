// Contour processing: an ordered list of steps, each of which takes contours and gives contours. They run in
// turn between two blocks of contours, the stage's output and one more, however many they are, and share
// their temporary memory. Only contours that are too large for the output's block go through a third one.
// What lies between steps stays where it is: on CUDA nothing of it is downloaded, its counts neither.
//
// Input: contours of any stage.
//
// Output: the contours that the last step gives.
//
// Memory: the output and a block as large as the largest one between steps, two such blocks where the output
// is smaller, and the largest temporary memory of a step.
#pragma once

#include "pipeline/graph/stage.h"
#include "pipeline/graph/steps.h"

namespace contorno {

struct ContourPrepParams {
  SharedSteps steps;  ///< at least one
};

/// The stages that may be steps: from contours to contours, with nothing else.
const StepTypes& contour_steps();

const StageType& contour_prep_stage();

}  // namespace contorno
