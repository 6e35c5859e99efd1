// Edges of a picture by Canny's detector, as OpenCV has it (J. Canny, "A computational approach to edge
// detection", 1986). The module opencv does the work.
#pragma once

#include "pipeline/value/image.h"

namespace contorno {

struct CannyParams {
  /// Gradients along an edge (3 x 3 Sobel, Euclidean length): an edge begins where one is above `high`, and
  /// goes on while it is above `low`. 0 <= low <= high.
  double low = 15, high = 40;
  double sigma = 1.4;  ///< standard deviation in px of the Gaussian that smooths before; 0: none
};

/// The table of functions that the module opencv gives the library.
struct OpencvModule {
  void (*find_edges)(const ImageView& grey, const CannyParams& params, const ImageView& edges);
};

/// Sets each sample of `edges` to 255 on an edge and to 0 elsewhere; edges are one pixel wide. Both images
/// are uint8 with one channel and of one size, and may be the same. Throws ModuleError where the module is
/// missing, and Error(OutOfMemory).
void find_edges(const ImageView& grey, const CannyParams& params, const ImageView& edges);

}  // namespace contorno
