// The stage `network` as programs have it: with checks beside models, and the engine of a file that was
// loaded.
#pragma once

#include "stages/network/stage.h"

namespace contorno {

/// Without an engine of others.
const StageType& network_stage();
/// With one; null: without.
StageType network_stage_with(const contorno_engine* plugin);

}  // namespace contorno
