// The line of gst-launch-1.0 that does what a graph does, with the plugin's element in the middle.
#pragma once

#include <string>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno {

struct GstLine {
  std::string text;                ///< the line, quoted for a shell
  std::vector<std::string> notes;  ///< what the line does not do that the graph does, a sentence each
};

struct GstLineFiles {
  std::string graph;                    ///< what the element reads
  std::string output;                   ///< the folder below which files are written
  std::vector<std::string> extensions;  ///< what the element loads before
};

/// Throws Error(BadOption) for a
/// source that has no element in its place, and for names and texts that may not stand in such a line.
GstLine gst_line(const GraphSpec& graph, const GstLineFiles& files);

}  // namespace contorno
