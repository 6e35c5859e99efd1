#include "stages/shared/map_value.h"

#include "stages/shared/sample_value.h"

namespace contorno {

double map_value(const ImageView& map, int channel, int row, int col, SampleScale scale) {
  return plane_of(map, channel, scale).at(row, col);
}

}  // namespace contorno
