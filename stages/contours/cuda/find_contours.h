// find_contours on a device: the same bits as find_contours (and scikit-image). A finder owns a stream, its
// device memory and page-locked staging memory, all kept from call to call, so that images of one size
// allocate only their result. Used by one thread at a time; several finders work side by side.
#pragma once

#include <memory>

#include "stages/contours/find_contours.h"

namespace contorno {

class DeviceContourFinder {
 public:
  /// Throws Error(Unavailable) with the reason and the remedy where no device answers or the build has no
  /// CUDA.
  DeviceContourFinder();
  ~DeviceContourFinder();
  DeviceContourFinder(const DeviceContourFinder&) = delete;
  DeviceContourFinder& operator=(const DeviceContourFinder&) = delete;

  /// Finds the contours of `image`, which lies in host memory as the options' mask does, with any pitch, and
  /// waits for the result. `options.threads` threads copy the image to page-locked memory; the options for
  /// tests are ignored. Throws what find_contours throws, and Error(Internal) when the device failed.
  FoundContours find(const ImageView& image, const FindContoursOptions& options = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace contorno
