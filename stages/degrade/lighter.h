// Stages that take the place of others where a run does with less (pipeline/graph/quality.h): one that draws
// nothing, and one that finds contours in smaller maps. They know no other stage but what they are given.
#pragma once

#include <functional>

#include "pipeline/graph/stage.h"

namespace contorno {

/// In place of a stage that draws on its first input, and whose output has the format of that: the output is
/// a copy of it. A state that the stage has is handed on unchanged. Ports, parameters and errors: those of
/// `type`. Memory: none of its own.
StageType undrawn(const StageType& type);

/// In place of a stage that finds contours in the maps of its only input: contours of their next mipmap
/// level, which `mipmap` makes, put back on the maps (place_points.h). The format says what that of the stage
/// would: who reads the contours need not know. Attributes that the stage gives are those of the level, and
/// must not be lengths. Ports: those of `type`. `fit` changes a copy of its parameters for the smaller maps.
/// Throws what both stages throw, for maps of which there is no level as well. Memory: a map of a quarter of
/// the samples, and that of both stages.
StageType coarser(const StageType& type, const StageType& mipmap, std::function<void(ParamSet&)> fit);

}  // namespace contorno
