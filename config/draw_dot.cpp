#include <fmt/format.h>

#include "config/draw.h"
#include "config/draw_layout.h"

namespace contorno::config {
namespace {

/// Inside a double-quoted DOT string.
std::string dot_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped.push_back('\\');
    escaped.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  return escaped;
}

std::string_view style_of(BoxKind kind) {
  return kind == BoxKind::Source ? "shape=cds, color=\"#2d6a4f\""
         : kind == BoxKind::Sink ? "shape=note, color=\"#9c6644\""
                                 : "shape=box, style=rounded, color=\"#33415c\"";
}

}  // namespace

std::string draw_dot(const GraphSpec& graph) {
  const Drawing drawing = lay_out(graph, nullptr);
  std::string dot =
      "digraph contorno {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n  edge "
      "[fontname=\"sans-serif\", fontsize=10];\n";
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Box& box = drawing.boxes[i];
    if (box.kind == BoxKind::Lane) continue;
    std::string text = dot_text(box.title);
    if (!box.subtitle.empty()) text += fmt::format("\\n({})", dot_text(box.subtitle));
    for (const std::string& note : box.notes) text += fmt::format("\\n{}", dot_text(note));
    dot += fmt::format("  n{} [label=\"{}\", {}];\n", i, text, style_of(box.kind));
  }
  for (const Line& line : drawing.lines)
    dot += fmt::format("  n{} -> n{} [label=\"{}\"];\n", line.from, line.to,
                       dot_text(drawing.boxes[line.from].outputs[line.from_port].name));
  return dot + "}\n";
}

}  // namespace contorno::config
