// The graph that `contorno learn` proposes, as text.
#pragma once

#include <string>

#include "tools/learn/colours.h"

namespace contorno {

struct LearnedGraph {
  std::string file;        ///< where it is to be written
  std::string location;    ///< of the example frames; becomes the source
  std::string how;         ///< the command line that made it, one line, for a comment
  double lightness = 0.5;  ///< for classify
  int frame_width = 0;     ///< px
  const LearnedColours& learned;
};

/// YAML that the strict loader reads.
std::string graph_text(const LearnedGraph& graph);

}  // namespace contorno
