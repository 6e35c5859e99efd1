#include "base/error.h"
#include "stages/degrade/place_points.h"

namespace contorno {

void place_points_on_device(const ContoursView& /*contours*/, const PointsPlacement& /*placement*/,
                            void* /*stream*/) {
  throw InternalError("a kernel was launched in a build without CUDA");
}

}  // namespace contorno
