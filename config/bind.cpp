#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/load.h"

namespace contorno::config {
namespace {

/// Settles one input; returns what is missing, or nothing.
std::string settle(Origin& origin, const std::string& owner, const StreamFormat& stream) {
  if (origin.node != Origin::kSource) return {};
  const bool has_frame = stream.frame.has_value(), has_maps = stream.maps.has_value();
  if (origin.port == Origin::kFrameOrMaps)
    origin.port = has_frame || !has_maps ? Origin::kFrame : Origin::kMaps;
  if (origin.port == Origin::kMapsOrFrame) origin.port = has_maps ? Origin::kMaps : Origin::kFrame;
  if (origin.port == Origin::kFrame && !has_frame) return fmt::format("{} takes source.frame", owner);
  if (origin.port == Origin::kMaps && !has_maps) return fmt::format("{} takes source.maps", owner);
  return {};
}

}  // namespace

void bind_source(GraphSpec& graph, const StreamFormat& stream) {
  std::vector<std::string> missing;
  const auto keep = [&](std::string problem) {
    if (!problem.empty()) missing.push_back(std::move(problem));
  };
  for (NodeSpec& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      keep(settle(node.inputs[i], fmt::format("node '{}': input '{}'", node.name, node.type->inputs[i].name),
                  stream));
  for (SinkSpec& sink : graph.sinks) keep(settle(sink.input, fmt::format("sink '{}'", sink.name), stream));
  if (missing.empty()) return;
  const std::string_view delivers = stream.frame  ? "colour frames and no class maps"
                                    : stream.maps ? "class maps and no frames"
                                                  : "neither frames nor class maps";
  const std::string_view fix = stream.frame
                                   ? "let a stage (classify) make maps, or use a source that has them"
                                   : "use a source that has frames, or take the node out";
  throw Error(ExitCode::BadConfig,
              fmt::format("the source{} delivers {}, but {}\n  fix: {}",
                          graph.source.type == nullptr ? "" : fmt::format(" '{}'", graph.source.type->name),
                          delivers, fmt::join(missing, ", and "), fix));
}

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
  for (const ClassSpec& spec : graph.classes)
    if (spec.level < 0 || spec.level > 1)
      warnings.push_back(
          fmt::format("class '{}': level {} lies outside 0..1, where probability maps have no contour",
                      spec.name, spec.level));
  if (graph.sinks.empty()) warnings.push_back("the graph has no sink: results are only counted");
  return warnings;
}

}  // namespace contorno::config
