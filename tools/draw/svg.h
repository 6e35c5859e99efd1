// Drawing machines as one SVG file that moves by itself (SMIL), without scripts and other files.
#pragma once

#include <span>
#include <string>

#include "tools/draw/scene.h"

namespace contorno {

/// The text of a file in which the machines draw for `seconds`, after which the drawing stays. An arm below
/// 0.05 px and those after it, and all after 128, are not shown.
std::string animated_svg(std::span<const Machine> machines, const DrawingSize& size, double seconds);

}  // namespace contorno
