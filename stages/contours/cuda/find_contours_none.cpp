// DeviceContourFinder in a build without CUDA.
#include <fmt/format.h>

#include "base/error.h"
#include "cuda/device.h"
#include "stages/contours/cuda/find_contours.h"

namespace contorno {

class DeviceContourFinder::Impl {};

DeviceContourFinder::DeviceContourFinder() {
  const DeviceReport& device = device_report();
  throw Error(ExitCode::Unavailable,
              fmt::format("backend cuda was asked for, but {}; {}", device.reason, device.fix));
}

DeviceContourFinder::~DeviceContourFinder() = default;

FoundContours DeviceContourFinder::find(const ImageView&, const FindContoursOptions&) {
  throw InternalError("a finder exists in a build without CUDA");
}

}  // namespace contorno
