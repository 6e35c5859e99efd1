#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/draw.h"
#include "config/source_text.h"
#include "config/yaml_text.h"
#include "pipeline/shared/printable.h"

namespace contorno::config {
namespace {

constexpr std::size_t kMaxNotes = 5, kMaxNoteCharacters = 30, kMaxShapeCharacters = 44;
constexpr std::string_view kSourceColour = "#2d6a4f", kStageColour = "#33415c", kSinkColour = "#9c6644";

std::string_view colour_of(PortType type) {
  switch (type) {
    case PortType::Image:
      return "#2a6f97";
    case PortType::Contours:
      return "#d1495b";
  }
  throw InternalError("unknown port type");
}

/// Inside a label of the HTML kind, where Graphviz knows \N, \G and others as well.
std::string label_text(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == '\\') plain.push_back(c);
    plain.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  return markup(plain);
}

/// What a box of the picture holds.
struct Box {
  std::string_view colour;
  std::string title, subtitle;
  std::vector<std::string> inputs, outputs;  ///< names of ports
  std::vector<std::string> notes;            ///< values and shapes
};

void add_values(Box& box, const ParamSet& params) {
  const ParamSet defaults(params.declaration());
  for (const ParamSpec& spec : params.declaration().specs) {
    const std::string value = yaml_value(spec, params.get(spec.name));
    if (!spec.required && value == yaml_value(spec, defaults.get(spec.name))) continue;
    if (box.notes.size() == kMaxNotes) {
      box.notes.push_back("...");
      return;
    }
    box.notes.push_back(printable(fmt::format("{}: {}", spec.name, value), kMaxNoteCharacters));
  }
}

std::string_view source_port_name(int port) {
  return port == Origin::kFrame         ? "frame"
         : port == Origin::kMaps        ? "maps"
         : port == Origin::kFrameOrMaps ? "frame or maps"
                                        : "maps or frame";
}

std::string row(std::string_view cells) {
  return fmt::format("<tr>{}</tr>", cells);
}

std::string table(std::string_view rows) {
  return fmt::format(
      R"(<<table border="1" color="#c9d1dc" bgcolor="#ffffff" cellborder="0" cellspacing="0" cellpadding="4">{}</table>>)",
      rows);
}

std::string label_of(const Box& box) {
  std::string head = fmt::format("<b>{}</b>", label_text(box.title));
  if (!box.subtitle.empty()) head += fmt::format(" ({})", label_text(box.subtitle));
  std::string rows = row(
      fmt::format(R"(<td colspan="2" bgcolor="{}"><font color="#ffffff">{}</font></td>)", box.colour, head));
  const auto cell = [](const std::vector<std::string>& names, std::size_t i, char side, const char* align) {
    return i < names.size()
               ? fmt::format(R"(<td port="{}{}" align="{}">{}</td>)", side, i, align, label_text(names[i]))
               : "<td></td>";
  };
  for (std::size_t i = 0; i < std::max(box.inputs.size(), box.outputs.size()); ++i)
    rows += row(cell(box.inputs, i, 'i', "left") + cell(box.outputs, i, 'o', "right"));
  for (const std::string& note : box.notes)
    rows += row(fmt::format(R"(<td colspan="2" align="left">{}</td>)", label_text(note)));
  return table(rows);
}

/// The boxes: the source is 0, node i is i + 1, the sinks follow.
class Drawing {
 public:
  Drawing(const GraphSpec& graph, const GraphShapes& shapes) : graph_(graph), shapes_(shapes) {
    add_source();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add_node(i);
    for (const SinkSpec& sink : graph_.sinks) add_sink(sink);
  }

  std::string dot() const {
    std::string text =
        "digraph contorno {\n  rankdir=LR;\n  ranksep=0.8;\n  bgcolor=\"#f4f6f9\";\n"
        "  node [shape=plain, fontname=\"DejaVu Sans\", fontsize=11, fontcolor=\"#333d4d\"];\n"
        "  edge [penwidth=2, arrowsize=0.6];\n";
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      text += fmt::format("  n{} [label={}];\n", i, label_of(boxes_[i]));
    text += fmt::format("  key [label={}];\n", key());
    return text + lines_ + "}\n";
  }

 private:
  void add_source() {
    Box box{.colour = kSourceColour, .title = "source"};
    if (graph_.source.type != nullptr) {
      box.subtitle = graph_.source.type->name;
      add_values(box, graph_.source.params);
    }
    if (shapes_.stream) {
      if (shapes_.stream->frame) box.notes.push_back(contorno::describe(*shapes_.stream->frame));
      if (shapes_.stream->maps) box.notes.push_back(contorno::describe(*shapes_.stream->maps));
    }
    boxes_.push_back(std::move(box));
  }

  void add_node(std::size_t number) {
    const NodeSpec& node = graph_.nodes[number];
    Box box{.colour = kStageColour, .title = node.name};
    if (!node.part_names.empty()) box.title = fmt::format("{}", fmt::join(node.part_names, " + "));
    if (node.type->name != node.name) box.subtitle = node.type->name;
    for (const PortSpec& port : node.type->inputs) box.inputs.push_back(port.name);
    for (const PortSpec& port : node.type->outputs) box.outputs.push_back(port.name);
    add_values(box, node.params);
    if (number < shapes_.outputs.size())
      for (const Format& format : shapes_.outputs[number])
        box.notes.push_back(printable(contorno::describe(format), kMaxShapeCharacters));
    boxes_.push_back(std::move(box));
    for (std::size_t port = 0; port < node.inputs.size(); ++port)
      connect(node.inputs[port], port, node.type->inputs[port].type);
  }

  void add_sink(const SinkSpec& sink) {
    Box box{.colour = kSinkColour, .title = sink.name};
    if (sink.type->name != sink.name) box.subtitle = sink.type->name;
    box.inputs.emplace_back(contorno::name_of(sink.type->input));
    add_values(box, sink.params);
    add_values(box, sink.settings);
    boxes_.push_back(std::move(box));
    connect(sink.input, 0, sink.type->input);
  }

  /// A line to an input of the last box.
  void connect(const Origin& origin, std::size_t to_port, PortType type) {
    const bool from_source = origin.node == Origin::kSource;
    const std::size_t from = from_source ? 0 : static_cast<std::size_t>(origin.node) + 1;
    const std::size_t from_port =
        from_source ? source_port(origin.port) : static_cast<std::size_t>(origin.port);
    types_.insert(type);
    lines_ += fmt::format("  n{}:o{}:e -> n{}:i{}:w [color=\"{}\"];\n", from, from_port, boxes_.size() - 1,
                          to_port, colour_of(type));
  }
  /// The source has those ports that something takes.
  std::size_t source_port(int port) {
    std::vector<std::string>& names = boxes_.front().outputs;
    const auto found = std::find(names.begin(), names.end(), source_port_name(port));
    const auto number = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) names.emplace_back(source_port_name(port));
    return number;
  }

  static std::string key_row(std::string_view colour, std::string_view text) {
    return row(
        fmt::format(R"(<td bgcolor="{}">    </td><td align="left">{}</td>)", colour, label_text(text)));
  }
  /// What the colours mean: of lines what flows there, then the classes.
  std::string key() const {
    std::string rows;
    for (const PortType type : types_) rows += key_row(colour_of(type), contorno::name_of(type));
    for (const ClassSpec& spec : graph_.classes) {
      const std::string more = spec.levels.size() < 2
                                   ? ""
                                   : fmt::format(" to {}, {} levels", spec.levels.back(), spec.levels.size());
      rows +=
          key_row(fmt::format("#{:02x}{:02x}{:02x}", spec.colour.red, spec.colour.green, spec.colour.blue),
                  fmt::format("{} > {}{}{}", spec.name, spec.level, more, spec.hidden ? " (hidden)" : ""));
    }
    return table(rows);
  }

  const GraphSpec& graph_;
  const GraphShapes& shapes_;
  std::vector<Box> boxes_;
  std::string lines_;
  std::set<PortType> types_;  // of the lines
};

}  // namespace

std::string draw_dot(const GraphSpec& graph, const GraphShapes& shapes) {
  return Drawing(graph, shapes).dot();
}

}  // namespace contorno::config
