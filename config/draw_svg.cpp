#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "config/draw.h"
#include "config/draw_layout.h"

namespace contorno::config {
namespace {

constexpr double kLegendRow = 26, kFontSize = 11;

std::string_view colour_of(PortType type) {
  switch (type) {
    case PortType::Image:
      return "#2a6f97";
    case PortType::Contours:
      return "#d1495b";
    case PortType::Private:
      return "#7b5ea7";
  }
  throw InternalError("unknown port type");
}

std::string_view header_colour(BoxKind kind) {
  switch (kind) {
    case BoxKind::Source:
      return "#2d6a4f";
    case BoxKind::Stage:
      return "#33415c";
    case BoxKind::Sink:
      return "#9c6644";
    case BoxKind::Lane:
      return "none";
  }
  throw InternalError("unknown kind of box");
}

enum class Anchor : std::uint8_t { Start, End };

std::string label(double x, double y, std::string_view css, Anchor anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\"{}>{}</text>\n", x, y, css,
                     anchor == Anchor::End ? " text-anchor=\"end\"" : "", xml_text(text));
}

std::string draw_ports(const Box& box, const std::vector<Port>& ports, double x, Anchor anchor) {
  std::string svg;
  const double inside = anchor == Anchor::Start ? 9 : -9;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"1.5\"/>\n", x,
        box.port_y(i), colour_of(ports[i].type));
    svg += label(x + inside, box.port_y(i) + 4, "port", anchor, ports[i].name);
  }
  return svg;
}

std::string draw_box(const Box& box) {
  if (box.kind == BoxKind::Lane) return {};
  const double right = box.x + box.width;
  std::string svg = fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3:.1f}\" rx=\"7\" fill=\"#fff\" "
      "stroke=\"#c9d1dc\"/>\n"
      "<path d=\"M{0:.1f},{4:.1f} v-{5} q0,-7 7,-7 h{6:.1f} q7,0 7,7 v{5} z\" fill=\"{7}\"/>\n",
      box.x, box.y, box.width, box.height, box.y + kHeaderHeight, kHeaderHeight - 7, box.width - 14,
      header_colour(box.kind));
  svg += label(box.x + 10, box.y + 17, "title", Anchor::Start, box.title);
  if (!box.subtitle.empty()) svg += label(right - 10, box.y + 17, "subtitle", Anchor::End, box.subtitle);
  svg += draw_ports(box, box.inputs, box.x, Anchor::Start) + draw_ports(box, box.outputs, right, Anchor::End);
  double y = box.port_y(std::max(box.inputs.size(), box.outputs.size())) + 4;
  for (const std::string& note : box.notes) {
    svg += label(box.x + 10, y, "note", Anchor::Start, note);
    y += kRowHeight;
  }
  return svg;
}

/// Curves only between the columns; along a lane the line runs straight.
std::string draw_line(const Drawing& drawing, const Line& line) {
  const Box& from = drawing.boxes[line.from];
  const Box& to = drawing.boxes[line.to];
  double x = from.x + from.width, y = from.port_y(line.from_port);
  std::string path = fmt::format("M{:.1f},{:.1f}", x, y);
  const auto curve_to = [&](double next_x, double next_y) {
    const double middle = (x + next_x) / 2;
    path += fmt::format(" C{0:.1f},{1:.1f} {0:.1f},{2:.1f} {3:.1f},{2:.1f}", middle, y, next_y, next_x);
    x = next_x, y = next_y;
  };
  for (const std::size_t number : line.lanes) {
    const Box& lane = drawing.boxes[number];
    curve_to(lane.x, lane.y + lane.height / 2);
    x = lane.x + lane.width;
    path += fmt::format(" H{:.1f}", x);
  }
  curve_to(to.x, to.port_y(line.to_port));
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linecap=\"round\"/>\n", path,
      colour_of(line.type));
}

class Legend {
 public:
  Legend(double top, double width) : y_(top), width_(width) {}

  void entry(const std::string& mark, const std::string& text) {
    const double room = 26 + static_cast<double>(text.size()) * kCharWidth + 18;
    if (x_ > 26 && x_ + room > width_) new_row();
    svg_ += fmt::format("<g transform=\"translate({:.1f},{:.1f})\">{}</g>\n", x_, y_, mark);
    svg_ += label(x_ + 24, y_ + 4, "note", Anchor::Start, text);
    x_ += room;
  }
  void new_row() { x_ = 26, y_ += kLegendRow; }
  double bottom() const { return y_ + kLegendRow; }
  const std::string& svg() const { return svg_; }

 private:
  double x_ = 26, y_, width_;
  std::string svg_;
};

Legend make_legend(const GraphSpec& graph, const Drawing& drawing) {
  Legend legend(drawing.height + 4, std::max(drawing.width, 480.0));
  for (const PortType type : {PortType::Image, PortType::Private, PortType::Contours}) {
    const auto line = std::find_if(drawing.lines.begin(), drawing.lines.end(),
                                   [&](const Line& one) { return one.type == type; });
    if (line == drawing.lines.end()) continue;
    const std::string& port = drawing.boxes[line->from].outputs[line->from_port].name;
    legend.entry(
        fmt::format("<path d=\"M0,0 h18\" stroke=\"{}\" stroke-width=\"3\" stroke-linecap=\"round\"/>",
                    colour_of(type)),
        type == PortType::Private ? port : std::string(contorno::name_of(type)));
  }
  if (!graph.classes.empty()) legend.new_row();
  for (const ClassSpec& spec : graph.classes)
    legend.entry(
        fmt::format(
            "<rect x=\"2\" y=\"-7\" width=\"14\" height=\"14\" rx=\"3\" fill=\"#{:02x}{:02x}{:02x}\"{}/>",
            spec.colour.red, spec.colour.green, spec.colour.blue,
            spec.hidden ? " opacity=\"0.35\"" : " stroke=\"#0003\""),
        fmt::format("{} > {}{}{}", spec.name, spec.level,
                    spec.levels.size() < 2
                        ? ""
                        : fmt::format(" to {}, {} levels", spec.levels.back(), spec.levels.size()),
                    spec.hidden ? " (hidden)" : ""));
  return legend;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      escaped.push_back(c);
    else
      escaped.push_back(' ');
  }
  return escaped;
}

std::string draw_svg(const GraphSpec& graph, const GraphShapes* shapes) {
  const Drawing drawing = lay_out(graph, shapes);
  const Legend legend = make_legend(graph, drawing);
  const double width = std::max(drawing.width, 480.0), height = legend.bottom();
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "<style>text {{ font-family: 'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif; font-size: {2}px; "
      "fill: #333d4d; }}\n"
      ".title {{ font-weight: bold; fill: #fff; }} .subtitle {{ fill: #fff; opacity: 0.75; }} .port {{ fill: "
      "#5c677d; }}\n"
      ".note {{ fill: #333d4d; }}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#f4f6f9\"/>\n",
      width, height, kFontSize);
  for (const Line& line : drawing.lines) svg += draw_line(drawing, line);
  for (const Box& box : drawing.boxes) svg += draw_box(box);
  return svg + legend.svg() + "</svg>\n";
}

}  // namespace contorno::config
