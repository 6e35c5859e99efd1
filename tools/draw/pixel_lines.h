// Lines of an edge detector, which are one pixel wide, as chains of pixel centres. A contour would go around
// each of them, there and back.
#pragma once

#include "pipeline/value/image.h"
#include "plugins/files/contours/contour_frame.h"

namespace contorno {

/// Adds the lines of `edges` (uint8, one channel, 0 beside lines) to `parts`, points as (row, column). Pixels
/// are linked to their 4 neighbours, and to a diagonal one where neither pixel beside both is set. Each link
/// is in one line; a line ends where a pixel has one link or more than two, and is closed where it comes
/// back to its first pixel. Pixels without links are left out.
void add_pixel_lines(const ImageView& edges, ContourParts& parts);

}  // namespace contorno
