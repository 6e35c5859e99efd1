// The frames that a page draws contours on.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "pipeline/graph/graph.h"

namespace contorno {

struct FramePicture {
  std::string png;            ///< the bytes of a PNG file, reduced where the frame is large
  int width = 0, height = 0;  ///< of the frame, px
};

/// The frames at these places of the dataset, which are sorted, by place. What cannot be read is missing; so
/// is all of a source that delivers maps alone. `graph` is bound to its source and takes the whole dataset.
std::map<std::uint64_t, FramePicture> frame_pictures(const GraphSpec& graph,
                                                     std::span<const std::uint64_t> places);

}  // namespace contorno
