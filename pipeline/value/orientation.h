// Which way round contours run.
#pragma once

#include <cstdint>

namespace contorno {

/// Which samples, low or high, a contour goes around counter-clockwise on screen (scikit-image's
/// positive_orientation).
enum class Orientation : std::uint8_t { Low, High };

}  // namespace contorno
