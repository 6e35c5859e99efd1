// What a build without GStreamer says of the sources and sinks of plugins/media/media.h, in place of "unknown
// type".
#pragma once

#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

inline std::vector<LeftOut> media_left_out() {
  std::vector<LeftOut> all;
  for (const char* name : {"video", "images", "camera", "gst", "test", "preview"})
    all.push_back(
        {name,
         "it was built without GStreamer, which reads and writes pictures and videos; install GStreamer's "
         "development files (tools/setup) and build with CONTORNO_GSTREAMER=ON"});
  return all;
}

}  // namespace contorno
