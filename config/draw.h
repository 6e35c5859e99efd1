// DOT source for a graph, which Graphviz makes a picture of.
#pragma once

#include <string>

#include "config/describe.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

/// The graph as DOT source, drawn from left to right: source, stages and sinks with their ports, the values
/// that differ from defaults, and the shapes that are known; a legend of edge colours and classes. All
/// names are escaped.
std::string draw_dot(const GraphSpec& graph, const GraphShapes& shapes);

}  // namespace contorno::config
