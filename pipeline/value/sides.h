// The one check of the sizes of images. Everything that takes memory by a format asks it first, so that
// arrays which kMaxSide sizes are never too short, whichever way the format came in.
#pragma once

#include <string_view>

#include "pipeline/value/image.h"

namespace contorno {

/// Throws Error(BadConfig) for a format that no image may have: allowed are sides of 1 to kMaxSide, as many
/// channels, and rows and columns whose samples an int counts. `what` begins the sentence: "the frame".
void check_sides(const ImageFormat& format, std::string_view what);

}  // namespace contorno
