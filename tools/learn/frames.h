// Reads the example frames of `contorno learn`: chooses those that are looked at, tells which class their
// pixels belong to, takes samples, and keeps copies of some frames to show.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "pipeline/graph/graph.h"
#include "tools/learn/picks.h"
#include "tools/learn/samples.h"

namespace contorno {

/// "images" for a picture, a folder or a glob, else "video".
const char* example_source_name(const std::string& location);

struct ExampleRequest {
  std::string location;              ///< what the source reads
  std::string masks;                 ///< folder, or empty
  std::vector<std::string> classes;  ///< names, in the order of the masks' values
  std::vector<Pick> picks;
  int limit = 16;  ///< most frames to look at, spread over all; those with picks are looked at besides
};

/// A frame with its memory. `picks` are those that lie on it.
struct ExampleFrame {
  Block memory;
  ImageView view;
  FrameInfo info;
  std::vector<Pick> picks;
};

struct ExampleFrames {
  std::vector<ColourSample> samples;
  std::vector<ExampleFrame> kept;  ///< at most kMostKept, rather those with picks; in the source's order
  int looked_at = 0;
  std::vector<std::string> files;  ///< all pictures and masks, read or not: no output may replace them

  static constexpr std::size_t kMostKept = 6;
};

/// Reads the frames, says on standard error which cannot be used, and takes samples. Throws
/// Error(Unavailable, MissingInput, BadData), Error(BadOption) for a pick that lies on no frame.
ExampleFrames read_examples(const ExampleRequest& request, const Catalog& catalog);

}  // namespace contorno
