// What the module onnxruntime shows to libcontorno.
#pragma once

#include "stages/network/engine.h"

namespace contorno {

struct OnnxruntimeTable {
  /// The engine, which lives as long as the process. Throws Error(Unavailable) where ONNX Runtime itself is
  /// absent or too old; a call after a failure tries again.
  const contorno_engine& (*engine)();
};

}  // namespace contorno
