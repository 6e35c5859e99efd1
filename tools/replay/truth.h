// What a dataset says is true: for each frame which pixels belong to which class.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"
#include "plugins/files/dataset/files.h"
#include "tools/replay/region.h"

namespace contorno {

/// What the numbers of label images mean.
struct LabelMeaning {
  std::uint32_t first = 1;       ///< the label of the graph's first class; those of the others follow
  std::uint32_t unjudged = 255;  ///< pixels with this label do not count
};

/// The regions of a frame's classes, all of one size.
struct TrueRegions {
  std::vector<PixelRegion> classes;
  PixelRegion unjudged;
};

class Truth {
 public:
  /// The truth of the dataset that the source reads; there is none where it is no dataset, or one without
  /// truth. Throws Error(BadData) where a dataset that has truth has a file of several frames.
  Truth(const SourceSpec& source, const LabelMeaning& meaning);

  bool exists() const { return exists_; }
  /// Whether there is something about the frame at this place.
  bool knows(std::uint64_t place) const;
  /// Throws Error(BadData, MissingInput, Io, Unavailable) when it cannot be read.
  TrueRegions regions(std::uint64_t place, std::span<const std::string> classes) const;

 private:
  LabelMeaning meaning_;
  DatasetFiles files_;
  bool exists_ = false;
};

}  // namespace contorno
