// Two fields of a frame, taken one after the other, become one picture. Stateless: what becomes of a frame
// does not depend on those before it, so that a part of a recording has the frames of the whole.
#pragma once

#include <cstdint>

#include "pipeline/value/image.h"

namespace contorno::gst {

/// The field that was taken first, by its first row.
enum class FirstField : std::uint8_t { Upper, Lower };

/// In `frame` (RGBA) the rows of the first field stay. A pixel of the other field stays unless something has
/// moved near it, which shows where a colour lies far outside those above and below it; else it is made of
/// these, along the edge that goes through there.
void join_fields(const ImageView& frame, FirstField first);

}  // namespace contorno::gst
