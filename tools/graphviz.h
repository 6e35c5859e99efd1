// Runs the external program Graphviz.
#pragma once

#include <string>

namespace contorno {

/// The SVG that Graphviz's program 'dot' makes of DOT source. Throws Error(Unavailable) where the
/// program is not installed, and Error(Io) where it fails.
std::string graphviz_svg(const std::string& dot);

}  // namespace contorno
