// The operators that were tried with OpenCV's dnn.
#pragma once

#include <span>

#include "stages/network/engine.h"

namespace contorno {

std::span<const contorno_engine_tried> opencv_tried();

}  // namespace contorno
