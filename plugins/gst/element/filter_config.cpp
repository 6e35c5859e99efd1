// How the element `contorno` loads its configuration, whose nodes become its children.
#include <utility>

#include "base/error.h"
#include "plugins/gst/element/filter.h"
#include "plugins/gst/element/log.h"

namespace contorno::gst {

/// `change(settings)`, of what the graph is loaded from.
template <class Change>
void Filter::reload(const Change& change) {
  const std::lock_guard loading(load_mutex_);
  set([&](FilterSettings& settings) {
    change(settings);
    loaded_.reset();
  });
  try {
    load();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): `start` loads it again and says it
  }
}

void Filter::set_config(const char* config) {
  reload([&](FilterSettings& settings) { settings.config = config != nullptr ? config : ""; });
}

void Filter::set_load(const char* paths) {
  reload([&](FilterSettings& settings) { settings.load = paths != nullptr ? paths : ""; });
}

/// Does nothing when it is loaded already.
void Filter::load() {
  const std::lock_guard loading(load_mutex_);
  std::string config, extensions;
  {
    const std::lock_guard lock(mutex_);
    if (loaded_) return;
    config = settings_.config;
    extensions = settings_.load;
  }
  GraphSpec graph = load_configuration(config, extensions);
  GST_INFO_OBJECT(element_, "loaded a graph of %zu stages and %zu classes", graph.nodes.size(),
                  graph.classes.size());
  replace_nodes(graph);
  const std::lock_guard lock(mutex_);
  loaded_ = std::move(graph);
}

void Filter::replace_nodes(const GraphSpec& graph) {
  std::vector<GstObject*> fresh, old;
  for (const NodeSpec& spec : graph.nodes) {
    fresh.push_back(make_node(spec, nodes_changed_));
    gst_object_set_parent(fresh.back(), GST_OBJECT(element_));
  }
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(nodes_, fresh);
  }
  for (GstObject* node : old) {
    gst_child_proxy_child_removed(GST_CHILD_PROXY(element_), G_OBJECT(node), GST_OBJECT_NAME(node));
    gst_object_unparent(node);
  }
  for (GstObject* node : fresh)
    gst_child_proxy_child_added(GST_CHILD_PROXY(element_), G_OBJECT(node), GST_OBJECT_NAME(node));
}

guint Filter::node_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<guint>(nodes_.size());
}

GObject* Filter::node(guint index) const {
  const std::lock_guard lock(mutex_);
  return index < nodes_.size() ? G_OBJECT(gst_object_ref(nodes_[index])) : nullptr;
}

GObject* Filter::node(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (GstObject* node : nodes_)
    if (name == GST_OBJECT_NAME(node)) return G_OBJECT(gst_object_ref(node));
  return nullptr;
}

}  // namespace contorno::gst
