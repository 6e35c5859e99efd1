// Pictures of a graph: Graphviz text, and an SVG that needs no other program. All names are escaped.
#pragma once

#include <string>

#include "config/describe.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

/// The graph in the language of Graphviz.
std::string draw_dot(const GraphSpec& graph);
/// The graph as an SVG document, from left to right: source, stages, sinks, with their ports, the values that
/// differ from defaults, and shapes if `shapes` is given; below, the classes with their colours.
std::string draw_svg(const GraphSpec& graph, const GraphShapes* shapes = nullptr);

/// `text` escaped for XML text and attributes.
std::string xml_text(std::string_view text);

}  // namespace contorno::config
