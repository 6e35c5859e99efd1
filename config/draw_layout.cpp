#include "config/draw_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "config/source_text.h"
#include "config/yaml_text.h"

namespace contorno::config {
namespace {

constexpr double kColumnGap = 70, kBoxGap = 26, kLaneHeight = 10, kMinWidth = 130;
constexpr std::size_t kMaxNotes = 5, kMaxNoteCharacters = 30;
constexpr int kSweeps = 8;

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

/// The boxes: the source is 0, node i is i + 1, the sinks follow.
class Layout {
 public:
  Layout(const GraphSpec& graph, const GraphShapes* shapes) : graph_(graph), shapes_(shapes) {}

  Drawing make() {
    add_source();
    add_nodes();
    add_sinks();
    add_lanes();
    order_columns();
    place();
    return std::move(drawing_);
  }

 private:
  void add_source() {
    Box box{.kind = BoxKind::Source, .title = "source"};
    if (graph_.source.type != nullptr) {
      box.subtitle = graph_.source.type->name;
      add_values(box, graph_.source.params);
    }
    if (shapes_ != nullptr && shapes_->stream) {
      if (shapes_->stream->frame) box.notes.push_back(contorno::describe(*shapes_->stream->frame));
      if (shapes_->stream->maps) box.notes.push_back(contorno::describe(*shapes_->stream->maps));
    }
    drawing_.boxes.push_back(std::move(box));
  }
  void connect(const Origin& origin, std::size_t to, std::size_t to_port, PortType type) {
    Line line{.type = type, .to = to, .to_port = to_port};
    if (origin.node == Origin::kSource) {
      Box& source = drawing_.boxes.front();
      const std::string name(source_port_name(origin.port));
      const auto it = std::find_if(source.outputs.begin(), source.outputs.end(),
                                   [&](const Port& port) { return port.name == name; });
      line.from_port = static_cast<std::size_t>(it - source.outputs.begin());
      if (it == source.outputs.end()) source.outputs.push_back({name, type});
    } else {
      line.from = static_cast<std::size_t>(origin.node) + 1;
      line.from_port = static_cast<std::size_t>(origin.port);
    }
    drawing_.boxes[to].column = std::max(drawing_.boxes[to].column, drawing_.boxes[line.from].column + 1);
    drawing_.lines.push_back(std::move(line));
  }
  void add_nodes() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeSpec& node = graph_.nodes[i];
      Box box{.kind = BoxKind::Stage, .title = node.name};
      if (node.type->name != node.name) box.subtitle = node.type->name;
      for (const PortSpec& port : node.type->inputs) box.inputs.push_back({port.name, port.type});
      for (const PortSpec& port : node.type->outputs) box.outputs.push_back({port.name, port.type});
      add_values(box, node.params);
      if (shapes_ != nullptr && i < shapes_->outputs.size())
        for (const Format& format : shapes_->outputs[i])
          box.notes.push_back(printable(contorno::describe(format), 44));
      drawing_.boxes.push_back(std::move(box));
      for (std::size_t port = 0; port < node.inputs.size(); ++port)
        connect(node.inputs[port], i + 1, port, node.type->inputs[port].type);
    }
  }
  void add_sinks() {
    for (const SinkSpec& sink : graph_.sinks) {
      Box box{.kind = BoxKind::Sink, .title = sink.name};
      if (sink.type->name != sink.name) box.subtitle = sink.type->name;
      box.inputs.push_back({std::string(contorno::name_of(sink.type->input)), sink.type->input});
      add_values(box, sink.params);
      add_values(box, sink.settings);
      drawing_.boxes.push_back(std::move(box));
      connect(sink.input, drawing_.boxes.size() - 1, 0, sink.type->input);
    }
  }
  void add_lanes() {
    for (Line& line : drawing_.lines)
      for (std::size_t column = drawing_.boxes[line.from].column + 1; column < drawing_.boxes[line.to].column;
           ++column) {
        line.lanes.push_back(drawing_.boxes.size());
        drawing_.boxes.push_back({.kind = BoxKind::Lane, .column = column, .height = kLaneHeight});
      }
    for (std::size_t i = 0; i < drawing_.boxes.size(); ++i) {
      columns_.resize(std::max(columns_.size(), drawing_.boxes[i].column + 1));
      columns_[drawing_.boxes[i].column].push_back(i);
    }
    left_.resize(drawing_.boxes.size());
    right_.resize(drawing_.boxes.size());
    for (const Line& line : drawing_.lines) {
      std::size_t previous = line.from;
      for (const std::size_t lane : line.lanes) {
        right_[previous].push_back(lane), left_[lane].push_back(previous);
        previous = lane;
      }
      right_[previous].push_back(line.to), left_[line.to].push_back(previous);
    }
  }
  /// Barycentre heuristic: each column in the order of the mean place of its neighbours, to and fro.
  void order_columns() {
    std::vector<double> rank(drawing_.boxes.size());
    const auto number = [&](const std::vector<std::size_t>& column) {
      for (std::size_t i = 0; i < column.size(); ++i)
        rank[column[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(column.size());
    };
    for (const auto& column : columns_) number(column);
    const auto sort = [&](std::vector<std::size_t>& column,
                          const std::vector<std::vector<std::size_t>>& neighbours) {
      std::vector<double> wanted = rank;
      for (const std::size_t box : column)
        if (!neighbours[box].empty()) {
          double sum = 0;
          for (const std::size_t other : neighbours[box]) sum += rank[other];
          wanted[box] = sum / static_cast<double>(neighbours[box].size());
        }
      std::stable_sort(column.begin(), column.end(),
                       [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
      number(column);
    };
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t i = 1; i < columns_.size(); ++i) sort(columns_[i], left_);
      for (std::size_t i = columns_.size() - 1; i-- > 0;) sort(columns_[i], right_);
    }
  }
  void measure(Box& box) const {
    if (box.kind == BoxKind::Lane) return;
    std::size_t widest = character_count(box.title) + character_count(box.subtitle) + 3;
    for (const std::string& note : box.notes) widest = std::max(widest, character_count(note));
    for (std::size_t i = 0; i < std::max(box.inputs.size(), box.outputs.size()); ++i)
      widest = std::max(widest, (i < box.inputs.size() ? box.inputs[i].name.size() : 0) +
                                    (i < box.outputs.size() ? box.outputs[i].name.size() : 0) + 4);
    box.width = std::max(kMinWidth, static_cast<double>(widest) * kCharWidth + 24);
    const std::size_t rows = std::max(box.inputs.size(), box.outputs.size()) + box.notes.size();
    box.height = kHeaderHeight + static_cast<double>(rows) * kRowHeight + 12;
  }
  /// Moves the boxes of a column towards their neighbours' middle without changing order or overlapping.
  void settle(const std::vector<std::size_t>& column) {
    std::vector<double> wanted;
    for (const std::size_t i : column) {
      double sum = 0;
      for (const auto* neighbours : {&left_[i], &right_[i]})
        for (const std::size_t other : *neighbours)
          sum += drawing_.boxes[other].y + drawing_.boxes[other].height / 2;
      const auto count = static_cast<double>(left_[i].size() + right_[i].size());
      wanted.push_back(count > 0 ? sum / count - drawing_.boxes[i].height / 2 : drawing_.boxes[i].y);
    }
    double next = wanted.front(), shift = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      Box& box = drawing_.boxes[column[i]];
      box.y = std::max(next, wanted[i]);
      next = box.y + box.height + kBoxGap;
      shift += wanted[i] - box.y;
    }
    for (const std::size_t i : column) drawing_.boxes[i].y += shift / static_cast<double>(column.size());
  }
  void place() {
    double x = kBoxGap;
    for (const auto& column : columns_) {
      double width = 0, y = 0;
      for (const std::size_t i : column) {
        measure(drawing_.boxes[i]);
        width = std::max(width, drawing_.boxes[i].width);
      }
      for (const std::size_t i : column) {
        Box& box = drawing_.boxes[i];
        box.x = x, box.y = y, box.width = width;
        y += box.height + kBoxGap;
      }
      x += width + kColumnGap;
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (const auto& column : columns_) settle(column);
      for (std::size_t i = columns_.size(); i-- > 0;) settle(columns_[i]);
    }
    double top = drawing_.boxes.front().y, bottom = top;
    for (const Box& box : drawing_.boxes)
      top = std::min(top, box.y), bottom = std::max(bottom, box.y + box.height);
    for (Box& box : drawing_.boxes) box.y += kBoxGap - top;
    drawing_.width = x - kColumnGap + kBoxGap;
    drawing_.height = bottom - top + 2 * kBoxGap;
  }

  const GraphSpec& graph_;
  const GraphShapes* shapes_;
  Drawing drawing_;
  std::vector<std::vector<std::size_t>> columns_, left_, right_;
};

}  // namespace

double Box::port_y(std::size_t port) const {
  return y + kHeaderHeight + 6 + (static_cast<double>(port) + 0.5) * kRowHeight;
}

Drawing lay_out(const GraphSpec& graph, const GraphShapes* shapes) {
  return Layout(graph, shapes).make();
}

}  // namespace contorno::config
