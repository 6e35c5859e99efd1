// Sources that need no input. `synthetic`: a sorting line with rollers and fruit that turn under the camera,
// and the true class maps of what it shows, as a network would give them. `diamond_square`: a new field of
// heights every frame. Both follow the thread rules of pipeline/graph/source.h and give the same bits for the
// same seed on every machine.
#pragma once

#include "pipeline/graph/source.h"

namespace contorno {

const SourceType& synthetic_source();
const SourceType& diamond_square_source();

}  // namespace contorno
