// Pictures of a graph: Graphviz text, and an SVG that needs no other program. All names are escaped.
#pragma once

#include <string>

#include "config/describe.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

std::string draw_dot(const GraphSpec& graph);
/// From left to right: source, stages, sinks, with ports, values that differ from their defaults, shapes
/// where they are known, and the classes with their colours below.
std::string draw_svg(const GraphSpec& graph, const GraphShapes* shapes = nullptr);

/// `text` inside XML text or an attribute.
std::string xml_text(std::string_view text);

}  // namespace contorno::config
