// The picture of a graph, for Graphviz.
#pragma once

#include <string>

#include "config/describe.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

/// The graph in the language of Graphviz, from left to right: source, stages and sinks with their ports, the
/// values that differ from defaults, and shapes if `shapes` is given; beside it what the colours of lines
/// mean, and the classes. All names are escaped.
std::string draw_dot(const GraphSpec& graph, const GraphShapes* shapes = nullptr);

}  // namespace contorno::config
