// Stages that take the place of others where a run does with less (pipeline/graph/quality.h): one that draws
// nothing, and one that finds contours in smaller maps. They know no other stage but what they are given.
#pragma once

#include <functional>

#include "pipeline/graph/stage.h"

namespace contorno {

/// In place of a stage that draws on its first input and gives an image of the same format: one that copies
/// that input. Ports and parameters are those of `type`, and planning throws what that of `type` throws. A
/// state that `type` keeps from frame to frame goes on unchanged, so that a frame at full quality finds it
/// later. Memory: that of the output, and the state.
StageType undrawn(const StageType& type);

/// In place of a stage that finds contours in the maps of its only input: one that makes the next mipmap
/// level of the maps with the stage `mipmap`, lets `type` find contours there, and puts the points back on
/// the maps (stages/degrade/place_points.h). Ports and parameters are those of `type`; the format of the
/// output has the width and height of the maps. Attributes of contours stay as `type` gave them on the level,
/// so `type` must give none that are lengths or areas; whoever changes `contours` has to look. `fit` changes
/// the parameters for the smaller maps, once for each stage that is made. Planning throws what both stages
/// throw, Error(BadConfig) for maps of which `mipmap` makes no level (float16, a side of 1). Memory: a map of
/// a quarter of the samples, and what both stages take for maps of their sizes.
StageType coarser(const StageType& type, const StageType& mipmap, std::function<void(ParamSet&)> fit);

}  // namespace contorno
