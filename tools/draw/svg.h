// Drawing machines as one SVG file that moves by itself (SMIL), without scripts and other files.
#pragma once

#include <span>
#include <string>

#include "tools/draw/scene.h"

namespace contorno {

/// Shows the machines draw for `seconds`, after which the drawing stays.
std::string animated_svg(std::span<const Machine> machines, const DrawingSize& size, double seconds);

}  // namespace contorno
