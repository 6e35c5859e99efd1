#include "config/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/sections.h"
#include "config/yaml_text.h"
#include "pipeline/shared/printable.h"
#include "stages/shared/sample_value.h"

namespace contorno::config {
namespace {

/// Whether a key of `owner` is to be printed, in the words of GraphSpec::written.
class Chosen {
 public:
  Chosen(const GraphSpec& graph, Detail detail) : written_(graph.written), detail_(detail) {}
  bool all() const { return detail_ == Detail::All; }
  bool has(const std::string& owner, const std::string& key) const {
    return all() || written_.contains(owner + "." + key);
  }

 private:
  const std::set<std::string>& written_;
  Detail detail_;
};

/// Keys and values of `params` at `indent`, one a line. Text that is empty anyway says nothing.
std::string param_lines(const ParamSet& params, int indent, const std::string& owner, const Chosen& chosen) {
  std::string text;
  for (const ParamSpec& spec : params.declaration().specs)
    if (chosen.has(owner, spec.name))
      text += fmt::format("{:{}}{}: {}\n", "", indent, spec.name, yaml_value(spec, params.get(spec.name)));
  return text;
}

std::string colour_list(const std::vector<Colour>& colours) {
  std::vector<std::string> words;
  for (const Colour& colour : colours) words.push_back(fmt::format("\"{}\"", to_text(colour)));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

std::string class_lines(const ClassSpec& spec, const Chosen& chosen) {
  const std::string owner = "classes." + spec.name;
  std::string text = fmt::format("  - name: {}\n", yaml_text(spec.name));
  const auto add = [&](const char* key, const std::string& value) {
    if (chosen.has(owner, key)) text += fmt::format("    {}: {}\n", key, value);
  };
  if (spec.levels.empty())
    add("level", fmt::format("{}", spec.level));
  else
    text += fmt::format("    levels: [{}]\n", fmt::join(spec.levels, ", "));
  add("colour", fmt::format("\"{}\"", to_text(spec.colour)));
  add("line_width", fmt::format("{}", spec.line_width));
  add("fill", fmt::format("{}", spec.fill));
  add("hidden", spec.hidden ? "true" : "false");
  add("whole", spec.whole ? "true" : "false");
  if (!spec.references.empty()) text += fmt::format("    references: {}\n", colour_list(spec.references));
  if (!spec.ranges.empty()) text += "    ranges:\n";
  for (const HueRange& range : spec.ranges)
    text += fmt::format("      - {{hue: [{}, {}], saturation: [{}, {}], value: [{}, {}]}}\n", range.hue_from,
                        range.hue_to, range.saturation_from, range.saturation_to, range.value_from,
                        range.value_to);
  return text;
}

std::string source_lines(const GraphSpec& graph, const GraphShapes* shapes, const Chosen& chosen) {
  if (graph.source.type == nullptr) return {};
  std::string text = fmt::format("source:\n  type: {}\n{}", graph.source.type->name,
                                 param_lines(graph.source.params, 2, "source", chosen));
  if (shapes == nullptr || !shapes->stream) return text;
  const StreamFormat& stream = *shapes->stream;
  if (stream.frame) text += fmt::format("  # frame: {}\n", contorno::describe(*stream.frame));
  if (stream.maps) {
    text += fmt::format("  # maps: {}\n", contorno::describe(*stream.maps));
    if (const double greatest = probability_scale(stream.maps->type).divisor; greatest > 1)
      text += fmt::format("  # their samples are of 0 to {}: a level of 0.5 is {}\n", greatest, greatest / 2);
  }
  if (stream.rate_numerator > 0)
    text += fmt::format("  # {:.5g} frames/s\n",
                        static_cast<double>(stream.rate_numerator) / std::max(stream.rate_denominator, 1));
  if (stream.frame_count >= 0) text += fmt::format("  # {} frames\n", stream.frame_count);
  return text;
}

/// Type and name of a node or sink; a name that is that of the type goes without saying.
std::string head_lines(const std::string& type, const std::string& name, const Chosen& chosen) {
  std::string text = fmt::format("  - type: {}\n", type);
  if (chosen.all() || name != type) text += fmt::format("    name: {}\n", name);
  return text;
}

std::string shape_lines(const NodeSpec& node, std::size_t number, const GraphShapes* shapes) {
  std::string text;
  if (shapes != nullptr && number < shapes->outputs.size())
    for (std::size_t port = 0; port < std::min(shapes->outputs[number].size(), node.type->outputs.size());
         ++port)
      text += fmt::format("    # {}: {}\n", node.type->outputs[port].name,
                          contorno::describe(shapes->outputs[number][port]));
  return text;
}

std::string node_lines(const GraphSpec& graph, std::size_t number, const GraphShapes* shapes,
                       const Chosen& chosen) {
  const NodeSpec& node = graph.nodes[number];
  std::vector<std::string> from;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    from.push_back(fmt::format("{}: {}", node.type->inputs[i].name, name_of(graph, node.inputs[i])));
  const std::string inputs = from.empty() ? "" : fmt::format("    from: {{{}}}\n", fmt::join(from, ", "));
  std::string text;
  if (node.part_names.empty()) {
    text = head_lines(node.type->name, node.name, chosen) + inputs;
  } else {
    const std::string& first = node.input_name();
    const bool is_there = std::any_of(graph.nodes.begin(), graph.nodes.begin() + static_cast<int>(number),
                                      [&](const NodeSpec& one) { return one.input_name() == first; });
    if (!is_there) text = head_lines(node.type->parts.front().name, first, chosen) + inputs;
    text += head_lines(node.type->parts.back().name, node.name, chosen) +
            fmt::format("    from: {{{0}: {1}.{0}}}\n", kBetweenHalves, first);
  }
  text += param_lines(node.params, 4, node.name, chosen);
  return text + shape_lines(node, number, shapes);
}

/// The step in the list that it was written in: {type: drop_small, min_points: 4, ...}.
std::string step_text(const GraphSpec& graph, const NodeSpec& node) {
  std::string text = "{type: " + node.type->name;
  std::vector<std::string> from;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    from.push_back(fmt::format("{}: {}", node.type->inputs[i].name, name_of(graph, node.inputs[i])));
  if (!from.empty()) text += fmt::format(", from: {{{}}}", fmt::join(from, ", "));
  for (const ParamSpec& spec : node.type->params.specs)
    text += fmt::format(", {}: {}", spec.name, yaml_value(spec, node.params.get(spec.name)));
  return text + "}";
}

/// How many nodes from `number` on are the steps of one list, the whole of it.
std::size_t listed_steps(const GraphSpec& graph, std::size_t number) {
  const NodeSpec::ListedStep& list = graph.nodes[number].step;
  for (std::size_t end = number; end < graph.nodes.size() && list.list != nullptr; ++end) {
    if (graph.nodes[end].step.list_name != list.list_name) return 0;
    if (graph.nodes[end].name == list.list_name) return end + 1 - number;
  }
  return 0;
}

/// A list of steps as the file has it.
std::string list_lines(const GraphSpec& graph, std::size_t number, std::size_t count,
                       const GraphShapes* shapes, const Chosen& chosen) {
  const NodeSpec &first = graph.nodes[number], &last = graph.nodes[number + count - 1];
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < count; ++i) steps.push_back(step_text(graph, graph.nodes[number + i]));
  return head_lines(first.step.list->name, first.step.list_name, chosen) +
         fmt::format("    from: {{{}: {}}}\n    {}: [{}]\n", first.type->inputs[0].name,
                     name_of(graph, first.inputs[0]), list_of_steps(*first.step.list)->name,
                     fmt::join(steps, ", ")) +
         shape_lines(last, number + count - 1, shapes);
}

std::string settings_lines(const PipelineSettings& settings, const GraphShapes* shapes,
                           const Chosen& chosen) {
  std::string text;
  for (const ParamSpec& spec : pipeline_params().specs)
    if (chosen.has("pipeline", spec.name))
      text += fmt::format("  {}: {}\n", spec.name, yaml_value(spec, spec.get(&settings)));
  text = text.empty() ? "" : "pipeline:\n" + text;
  if (shapes == nullptr) return text;
  for (const std::string& sentence : {shapes->backend, shapes->memory})
    if (!sentence.empty()) text += fmt::format("  # {}\n", sentence);
  return text;
}

}  // namespace

std::string yaml_text(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '-';
  };
  static const std::vector<std::string> special{"true", "false", "yes", "no",  "on", "off",
                                                "null", "y",     "n",   "inf", "nan"};
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool letter_first = !lower.empty() && ((lower[0] >= 'a' && lower[0] <= 'z') || lower[0] == '/');
  if (letter_first && std::all_of(text.begin(), text.end(), is_word) &&
      std::find(special.begin(), special.end(), lower) == special.end())
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted.append({'\\', c});
    else if (c == '\n')
      quoted += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

std::string yaml_value(const ParamSpec& spec, const ParamValue& value) {
  if (spec.kind == ParamKind::Colour) return fmt::format("\"{}\"", std::get<std::string>(value));
  if (spec.kind == ParamKind::Mask) return yaml_text(to_text(value));
  if (const auto* text = std::get_if<std::string>(&value))
    return spec.kind == ParamKind::Choice ? *text : yaml_text(*text);
  return to_text(value);
}

std::string name_of(const GraphSpec& graph, const Origin& origin) {
  if (origin.node == Origin::kSource)
    return origin.port == Origin::kFrame  ? "source.frame"
           : origin.port == Origin::kMaps ? "source.maps"
                                          : "source";
  const NodeSpec& node = graph.nodes[static_cast<std::size_t>(origin.node)];
  return fmt::format("{}.{}", node.name, node.type->outputs[static_cast<std::size_t>(origin.port)].name);
}

std::string describe_graph(const GraphSpec& graph, const GraphShapes* shapes, Detail detail) {
  const Chosen chosen(graph, detail);
  std::string text = source_lines(graph, shapes, chosen) + settings_lines(graph.settings, shapes, chosen);
  if (!graph.classes.empty()) text += "classes:\n";
  for (const ClassSpec& spec : graph.classes) text += class_lines(spec, chosen);
  if (!graph.nodes.empty()) text += "stages:\n";
  for (std::size_t i = 0; i < graph.nodes.size();) {
    const std::size_t steps = listed_steps(graph, i);
    text += steps == 0 ? node_lines(graph, i, shapes, chosen) : list_lines(graph, i, steps, shapes, chosen);
    i += std::max<std::size_t>(steps, 1);
  }
  text += graph.sinks.empty() ? "sinks: []\n" : "sinks:\n";
  for (const SinkSpec& sink : graph.sinks)
    text += fmt::format("{}    from: {}\n{}{}", head_lines(sink.type->name, sink.name, chosen),
                        name_of(graph, sink.input), param_lines(sink.params, 4, sink.name, chosen),
                        param_lines(sink.settings, 4, sink.name, chosen));
  return masked(text);
}

}  // namespace contorno::config
