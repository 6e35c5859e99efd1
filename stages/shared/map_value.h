// Single samples of a map as numbers. The arithmetic is in the library, so that a program whose compiler
// fuses operations gets the same bits.
#pragma once

#include "pipeline/value/image.h"
#include "stages/shared/sample_scale.h"

namespace contorno {

/// Sample (row, col) of class `channel`, of any element type and layout: floating-point samples are
/// themselves, integers are divided by `scale.divisor`. The place must lie inside the map. For code that
/// looks at few samples: the type is looked up for each.
double map_value(const ImageView& map, int channel, int row, int col, SampleScale scale);

}  // namespace contorno
