// The operators that were tried with ONNX Runtime.
#pragma once

#include <span>

#include "stages/network/engine.h"

namespace contorno {

std::span<const contorno_engine_tried> onnxruntime_tried();

}  // namespace contorno
