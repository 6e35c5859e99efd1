#include "pipeline/graph/bind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"

namespace contorno {

Colour class_colour(std::size_t index) {
  // Colours that stay apart for every kind of colour vision (Okabe and Ito), strongest first.
  static constexpr std::array<Colour, 7> kPalette{{{213, 94, 0},
                                                   {0, 114, 178},
                                                   {0, 158, 115},
                                                   {230, 159, 0},
                                                   {204, 121, 167},
                                                   {86, 180, 233},
                                                   {240, 228, 66}}};
  return kPalette[index % kPalette.size()];
}

namespace {

/// A class of the defaults for each channel: class0, class1 and so on.
std::vector<ClassSpec> classes_of_maps(const ImageFormat& maps) {
  std::vector<ClassSpec> classes(static_cast<std::size_t>(maps.channels));
  for (std::size_t k = 0; k < classes.size(); ++k)
    classes[k].name = fmt::format("class{}", k), classes[k].colour = class_colour(k);
  return classes;
}

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

/// Classes that are known by their colours get no maps from the channels of a frame: where classify stands
/// behind the stage that takes them, the graph is refused. A frame that is asked for by name is meant. Throws
/// Error(BadConfig) that names the stage.
void refuse_frames_for_maps(const GraphSpec& graph, const StreamFormat& stream) {
  const auto with = std::find_if(graph.classes.begin(), graph.classes.end(), [](const ClassSpec& spec) {
    return !spec.references.empty() || !spec.ranges.empty();
  });
  if (!stream.frame || stream.maps || with == graph.classes.end()) return;
  // For each node, whether its output is made of the frame by stages that do not look at colours.
  std::vector<bool> of_frame;
  const auto is_frame = [&](const Origin& origin) {
    return origin.node == Origin::kSource ? origin.port != Origin::kFrame
                                          : of_frame[static_cast<std::size_t>(origin.node)];
  };
  for (const NodeSpec& node : graph.nodes) {
    for (std::size_t port = 0; port < node.inputs.size(); ++port)
      if (node.type->classes == ClassUse::Needed && !looks_at_colours(*node.type) &&
          node.type->inputs[port].from == From::MapsOrFrame && is_frame(node.inputs[port]))
        throw Error(ExitCode::BadConfig,
                    fmt::format("{}{}node '{}' would take the channels of the frame for the maps of the "
                                "classes, but class '{}' is known by its colours\n  fix: put classify before "
                                "'{}', or write from: source.frame where the channels are meant",
                                node.where, node.where.empty() ? "" : ": ", node.input_name(), with->name,
                                node.input_name()));
    of_frame.push_back(!looks_at_colours(*node.type) &&
                       std::any_of(node.inputs.begin(), node.inputs.end(), is_frame));
  }
}

/// The parts of a graph that cannot work because the stream has no frames, and those that live on what they
/// make.
class WithoutFrames {
 public:
  WithoutFrames(const GraphSpec& graph, const std::vector<bool>& lacking_nodes,
                const std::vector<bool>& lacking_sinks)
      : nodes_(lacking_nodes), sinks_(lacking_sinks) {
    // Nodes come after their inputs.
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const Origin& origin : graph.nodes[i].inputs) nodes_[i] = nodes_[i] || is_gone(origin);
    for (std::size_t i = 0; i < graph.sinks.size(); ++i)
      sinks_[i] = sinks_[i] || is_gone(graph.sinks[i].input);
  }

  /// Whether the graph is still good for something.
  bool leaves_work(const GraphSpec& graph) const {
    const std::vector<bool>& parts = graph.sinks.empty() ? nodes_ : sinks_;
    return std::find(parts.begin(), parts.end(), false) != parts.end();
  }

  /// Takes the parts out and says which.
  std::string take_out(GraphSpec& graph) const {
    std::vector<std::string> names;
    std::vector<int> new_index(graph.nodes.size());
    std::vector<NodeSpec> nodes;
    std::vector<SinkSpec> sinks;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      new_index[i] = static_cast<int>(nodes.size());
      if (nodes_[i])
        names.push_back(fmt::format("node '{}'", graph.nodes[i].name));
      else
        nodes.push_back(std::move(graph.nodes[i]));
    }
    for (std::size_t i = 0; i < graph.sinks.size(); ++i)
      if (sinks_[i])
        names.push_back(fmt::format("sink '{}'", graph.sinks[i].name));
      else
        sinks.push_back(std::move(graph.sinks[i]));
    const auto renumber = [&](Origin& origin) {
      if (origin.node >= 0) origin.node = new_index[static_cast<std::size_t>(origin.node)];
    };
    for (NodeSpec& node : nodes)
      for (Origin& origin : node.inputs) renumber(origin);
    for (SinkSpec& sink : sinks) renumber(sink.input);
    graph.nodes = std::move(nodes);
    graph.sinks = std::move(sinks);
    return fmt::format("the source has class maps and no frames: left out {}", fmt::join(names, ", "));
  }

 private:
  bool is_gone(const Origin& origin) const {
    return origin.node >= 0 && nodes_[static_cast<std::size_t>(origin.node)];
  }

  std::vector<bool> nodes_, sinks_;
};

/// Gives a graph without classes (`classes: auto`) one class for each map of the source.
void take_classes(GraphSpec& graph, const StreamFormat& stream) {
  const auto needs = [](const NodeSpec& node) { return node.type->classes == ClassUse::Needed; };
  const auto user = std::find_if(graph.nodes.begin(), graph.nodes.end(), needs);
  if (!graph.classes.empty() || user == graph.nodes.end()) return;
  if (!stream.maps)
    throw Error(
        ExitCode::BadConfig,
        fmt::format(
            "node '{}' needs classes, and the source has no class maps, from which 'classes: {}' could "
            "take them\n  fix: declare the classes",
            user->input_name(), kClassesOfMaps));
  graph.classes = classes_of_maps(*stream.maps);
}

}  // namespace

std::string bind_source(GraphSpec& graph, const StreamFormat& stream) {
  take_classes(graph, stream);
  refuse_frames_for_maps(graph, stream);
  std::vector<std::string> missing;
  const auto lacks = [&](Origin& origin, const std::string& owner) {
    std::string problem = settle(origin, owner, stream);
    if (problem.empty()) return false;
    missing.push_back(std::move(problem));
    return true;
  };
  std::vector<bool> lacking_nodes, lacking_sinks;
  for (NodeSpec& node : graph.nodes) {
    bool any = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      any |= lacks(node.inputs[i],
                   fmt::format("node '{}': input '{}'", node.input_name(), node.type->inputs[i].name));
    lacking_nodes.push_back(any);
  }
  for (SinkSpec& sink : graph.sinks)
    lacking_sinks.push_back(lacks(sink.input, fmt::format("sink '{}'", sink.name)));
  if (missing.empty()) return {};
  const WithoutFrames without(graph, lacking_nodes, lacking_sinks);
  if (!stream.frame && stream.maps && without.leaves_work(graph)) return without.take_out(graph);
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

std::unique_ptr<Source> make_source(const GraphSpec& graph) {
  std::unique_ptr<Source> source = graph.source.type->make(graph.source.params);
  if (!graph.classes.empty()) source->expect_classes(static_cast<int>(graph.classes.size()));
  return source;
}

BoundSource open_source(GraphSpec& graph) {
  BoundSource bound{.source = make_source(graph), .notice = {}};
  bound.notice = bind_source(graph, bound.source->format());
  return bound;
}

}  // namespace contorno
