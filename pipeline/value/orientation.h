// Which way round contours run.
#pragma once

#include <cstdint>

namespace contorno {

/// What a contour turns around counter-clockwise on screen (scikit-image's positive_orientation).
enum class Orientation : std::uint8_t { Low, High };

}  // namespace contorno
