#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/load.h"

namespace contorno::config {
namespace {

/// Steps that are told which way contours run, and are told otherwise than the stage that makes them.
void warn_of_orientation(const GraphSpec& graph, std::vector<std::string>& warnings) {
  constexpr const char* kName = "positive_orientation";
  const auto told = [](const StageType& type, const ParamSet& params) -> std::optional<std::string> {
    if (type.params.find(kName) == nullptr) return std::nullopt;
    return std::get<std::string>(params.get(kName));
  };
  const NodeSpec* maker = nullptr;
  for (const NodeSpec& node : graph.nodes)
    if (node.type->name == "contours") maker = &node;
  if (maker == nullptr) return;
  const auto made = told(*maker->type, maker->params);
  const auto check = [&](const std::string& name, const StageType& type, const ParamSet& params) {
    const auto is = told(type, params);
    if (made && is && *is != *made)
      warnings.push_back(
          fmt::format("{}: {} is {}, but {}'s is {}: holes and what lies around them are mistaken for each "
                      "other",
                      name, kName, *is, maker->name, *made));
  };
  for (const NodeSpec& node : graph.nodes)
    check(fmt::format("node '{}'", node.input_name()), *node.type, node.params);
}

/// Contours of a picture that shows maps, whose channels are red, green and blue and no classes.
void warn_of_colours(const GraphSpec& graph, std::vector<std::string>& warnings) {
  for (const NodeSpec& node : graph.nodes) {
    if (node.type->name != "contours" || node.inputs.empty() || node.inputs[0].node < 0) continue;
    const NodeSpec& from = graph.nodes[static_cast<std::size_t>(node.inputs[0].node)];
    if (from.type->name == "colour_map")
      warnings.push_back(fmt::format(
          "node '{}': it takes red, green and blue of node '{}' for maps of classes; name the maps "
          "(from: source.maps), or let it stand before '{}'",
          node.input_name(), from.name, from.name));
  }
}

}  // namespace

std::vector<std::string> graph_warnings(const GraphSpec& graph) {
  std::vector<std::string> warnings;
  std::vector<std::vector<bool>> used;
  for (const NodeSpec& node : graph.nodes) used.emplace_back(node.type->outputs.size(), false);
  const auto use = [&](const Origin& origin) {
    if (origin.node >= 0)
      used[static_cast<std::size_t>(origin.node)][static_cast<std::size_t>(origin.port)] = true;
  };
  for (const NodeSpec& node : graph.nodes)
    for (const Origin& origin : node.inputs) use(origin);
  for (const SinkSpec& sink : graph.sinks) use(sink.input);
  for (std::size_t i = 0; i < used.size(); ++i)
    for (std::size_t port = 0; port < used[i].size(); ++port)
      if (!used[i][port])
        warnings.push_back(fmt::format("node '{}': nobody reads its output '{}'", graph.nodes[i].name,
                                       graph.nodes[i].type->outputs[port].name));
  for (const ClassSpec& spec : graph.classes) {
    const std::span<const double> levels = spec.iso_levels();
    const auto outside =
        std::find_if(levels.begin(), levels.end(), [](double level) { return level < 0 || level > 1; });
    if (outside != levels.end())
      warnings.push_back(
          fmt::format("class '{}': level {} lies outside 0..1, where probability maps have no contour",
                      spec.name, *outside));
  }
  warn_of_orientation(graph, warnings);
  warn_of_colours(graph, warnings);
  if (graph.sinks.empty()) warnings.push_back("the graph has no sink: results are only counted");
  return warnings;
}

}  // namespace contorno::config
