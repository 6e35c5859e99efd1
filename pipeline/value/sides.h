// The one check of the sizes of images. Everything that allocates memory by a format calls it first, so that
// arrays of kMaxSide entries (pipeline/value/image.h) are never too short, whether the format came from a
// file, a program or a GStreamer pipeline.
#pragma once

#include <string_view>

#include "pipeline/value/image.h"

namespace contorno {

/// Throws Error(BadConfig) unless width, height and channels are each 1 to kMaxSide, and the samples of a row
/// and of a column (width or height times channels) fit in an int. The sample type is not checked. `what` is
/// the subject of the sentence: "the frame".
void check_sides(const ImageFormat& format, std::string_view what);

}  // namespace contorno
