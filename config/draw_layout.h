// The layout of a drawn graph: boxes in columns by their distance from the source, with a lane left free for
// every line that passes a column, and few crossings of lines. Lengths are in px; independent of SVG.
// Internal to config/.
#pragma once

#include <string>
#include <vector>

#include "config/describe.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

enum class BoxKind : std::uint8_t { Source, Stage, Sink, Lane };

struct Port {
  std::string name;
  PortType type = PortType::Image;
};

/// A box of the picture. A Lane is the place in a column that a passing line takes.
struct Box {
  BoxKind kind = BoxKind::Stage;
  std::string title, subtitle;
  std::vector<Port> inputs, outputs;
  std::vector<std::string> notes;  ///< values and shapes
  std::size_t column = 0;
  double x = 0, y = 0, width = 0, height = 0;

  /// Where the line of a port begins or ends.
  double port_y(std::size_t port) const;
};

/// A line from output `from_port` of box `from` to input `to_port` of box `to`.
struct Line {
  PortType type = PortType::Image;
  std::size_t from = 0, from_port = 0, to = 0, to_port = 0;
  std::vector<std::size_t> lanes;  ///< boxes it passes, from left to right
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Line> lines;
  double width = 0, height = 0;
};

inline constexpr double kHeaderHeight = 26, kRowHeight = 17, kCharWidth = 6.4;

/// Places everything; `shapes` may be null.
Drawing lay_out(const GraphSpec& graph, const GraphShapes* shapes);

}  // namespace contorno::config
