// Reconstruction on the CPU: L. Vincent, Morphological Grayscale Reconstruction in Image Analysis, IEEE
// Trans. Image Processing 2(2), 1993, the hybrid algorithm: one scan each way, then a queue for what the
// scans left. The result is the fixed point, which no order of evaluation changes. Internal.
#pragma once

#include <cstddef>

#include "stages/morphology/stage.h"

namespace contorno {

/// Bytes of scratch for `threads` channels that are worked on at the same time.
std::size_t reconstruction_scratch_bytes(const ImageFormat& format, int threads);

/// `image` holds the marker and becomes the result; `mask` has the same format. Each channel is worked on by
/// one thread. `scratch` has reconstruction_scratch_bytes().
void reconstruct_in_place(ReconstructionMethod method, const ImageView& image, const ImageView& mask,
                          const MorphologyOptions& options, std::byte* scratch, int threads);

}  // namespace contorno
