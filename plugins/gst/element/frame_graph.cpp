#include "plugins/gst/element/frame_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "config/load.h"
#include "config/source_text.h"
#include "plugins/catalog.h"
#include "plugins/extension.h"
#include "plugins/text/pango.h"

namespace contorno::gst {
namespace {

constexpr std::string_view kDrawingStage = "overlay";

bool is_text(const std::string& config) {
  return config.find('\n') != std::string::npos || config.find(": ") != std::string::npos;
}

std::vector<std::string> paths_in(const std::string& list) {
  std::vector<std::string> paths;
  std::istringstream words(list);
  for (std::string path; std::getline(words, path, ':');) paths.push_back(path);
  return paths;
}

bool is_drawing(const NodeSpec& node) {
  return node.type->name == kDrawingStage;
}

}  // namespace

GraphSpec load_configuration(const std::string& config, const std::string& extensions) {
  const Catalog catalog = with_extensions(host_catalog(), paths_in(extensions));
  if (config.empty())
    throw Error(ExitCode::BadConfig,
                "the property 'config' is empty, allowed the path of a graph's YAML file, or its text");
  config::LoadOptions options;
  options.source = config::SourceUse::Optional;
  return is_text(config) ? config::load_graph_text(config, "config", catalog, options)
                         : config::load_graph(config, catalog, options);
}

FrameGraph::FrameGraph(GraphSpec graph, FrameGraphOptions options)
    : graph_(std::move(graph)), options_(std::move(options)), text_(make_pango_text()) {
  graph_.sinks.clear();
  choose_classes();
  find_results();
  if (!options_.draws) leave_out_drawing();
  backend_ = choose_backend(options_.backend ? *options_.backend : graph_.settings.backend, graph_);
}

/// Hides the classes that are not wanted: they are found, since they bound the others, but not drawn.
void FrameGraph::choose_classes() {
  if (graph_.classes.empty()) return;  // bind() knows them
  wanted_.assign(graph_.classes.size(), options_.classes.empty());
  for (const std::string& name : options_.classes) {
    const auto found = std::find_if(graph_.classes.begin(), graph_.classes.end(),
                                    [&](const ClassSpec& one) { return one.name == name; });
    if (found == graph_.classes.end()) {
      std::vector<std::string> names;
      for (const ClassSpec& one : graph_.classes) names.push_back(one.name);
      throw Error(ExitCode::BadOption, fmt::format("the property 'classes' has '{}', allowed are {}", name,
                                                   fmt::join(names, ", ")));
    }
    wanted_[static_cast<std::size_t>(found - graph_.classes.begin())] = true;
  }
  for (std::size_t one = 0; one < wanted_.size(); ++one)
    if (!wanted_[one]) graph_.classes[one].hidden = true;
}

/// The last contours, and the last drawing; without a node that draws, one with the defaults is added.
void FrameGraph::find_results() {
  bool found = false;
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    const std::vector<PortSpec>& outputs = graph_.nodes[node].type->outputs;
    for (std::size_t port = 0; port < outputs.size(); ++port)
      if (outputs[port].type == PortType::Contours)
        contours_ = {static_cast<int>(node), static_cast<int>(port)}, found = true;
    if (is_drawing(graph_.nodes[node])) drawing_ = {static_cast<int>(node), 0};
  }
  if (!found) throw Error(ExitCode::BadConfig, "the graph makes no contours: add the stage contours");
  if (drawing_ || !options_.draws) return;
  const StageType& type = *host_catalog().stage(kDrawingStage);
  graph_.nodes.push_back({.name = type.name,
                          .type = &type,
                          .params = ParamSet(type.params),
                          .inputs = {{Origin::kSource, Origin::kFrame}, contours_},
                          .where = {}});
  drawing_ = {static_cast<int>(graph_.nodes.size()) - 1, 0};
}

/// Takes out the nodes that draw, from the last one on, unless another takes what they make.
void FrameGraph::leave_out_drawing() {
  drawing_.reset();
  for (int index = static_cast<int>(graph_.nodes.size()) - 1; index >= 0; --index) {
    const auto takes = [&](const NodeSpec& node) {
      return std::any_of(node.inputs.begin(), node.inputs.end(),
                         [&](const Origin& origin) { return origin.node == index; });
    };
    if (is_drawing(graph_.nodes[static_cast<std::size_t>(index)]) &&
        std::none_of(graph_.nodes.begin(), graph_.nodes.end(), takes))
      remove_node(index);
  }
}

void FrameGraph::remove_node(int index) {
  graph_.nodes.erase(graph_.nodes.begin() + index);
  const auto renumber = [&](Origin& origin) {
    if (origin.node > index) --origin.node;
  };
  for (NodeSpec& node : graph_.nodes)
    for (Origin& origin : node.inputs) renumber(origin);
  renumber(contours_);
}

void FrameGraph::bind(const StreamFormat& stream) {
  config::bind_source(graph_, stream);
  if (wanted_.size() != graph_.classes.size()) choose_classes();
}

}  // namespace contorno::gst
