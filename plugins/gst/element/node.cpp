#include "plugins/gst/element/node.h"

#include <mutex>

#include "base/error.h"
#include "plugins/gst/element/param_property.h"

namespace contorno::gst {
namespace {

struct NodeState {
  std::mutex mutex;
  ParamSet params;
  ChangeFlag changed;
};

struct NodeObject {
  GstObject parent;
  NodeState* state;
};
struct NodeClass {
  GstObjectClass parent_class;
  const StageType* stage;
};

GstObjectClass* parent_class = nullptr;

const StageType& stage_of(GObject* object) {
  return *reinterpret_cast<NodeClass*>(G_OBJECT_GET_CLASS(object))->stage;
}

/// Properties have numbers from 1.
const ParamSpec& spec_of(GObject* object, guint property) {
  return stage_of(object).params.specs.at(property - 1);
}

void set_property(GObject* object, guint property, const GValue* value, GParamSpec*) {
  NodeState& state = *reinterpret_cast<NodeObject*>(object)->state;
  const ParamSpec& spec = spec_of(object, property);
  try {
    const std::lock_guard lock(state.mutex);
    const ParamValue before = state.params.get(spec.name);
    set_from_gvalue(stage_of(object).name, spec, value, state.params);
    if (state.changed && !(before == state.params.get(spec.name))) *state.changed = true;
  } catch (const std::exception& error) {
    GstObject* element = gst_object_get_parent(GST_OBJECT(object));
    if (element == nullptr) return;
    GST_ELEMENT_WARNING(element, RESOURCE, SETTINGS, ("%s", error.what()),
                        ("%s keeps its value", spec.name.c_str()));
    gst_object_unref(element);
  }
}

void get_property(GObject* object, guint property, GValue* value, GParamSpec*) {
  NodeState& state = *reinterpret_cast<NodeObject*>(object)->state;
  const ParamSpec& spec = spec_of(object, property);
  const std::lock_guard lock(state.mutex);
  to_gvalue(spec, state.params.get(spec.name), value);
}

void finalize(GObject* object) {
  delete reinterpret_cast<NodeObject*>(object)->state;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

void init_class(gpointer type_class, gpointer stage_type) {
  const auto& stage = *static_cast<const StageType*>(stage_type);
  static_cast<NodeClass*>(type_class)->stage = &stage;
  parent_class = static_cast<GstObjectClass*>(g_type_class_peek(GST_TYPE_OBJECT));
  GObjectClass* object_class = G_OBJECT_CLASS(type_class);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  const ParamSet defaults(stage.params);
  for (std::size_t i = 0; i < stage.params.specs.size(); ++i) {
    const ParamSpec& spec = stage.params.specs[i];
    g_object_class_install_property(object_class, static_cast<guint>(i + 1),
                                    property_of(stage.name, spec, defaults.get(spec.name)));
  }
}

void init_node(GTypeInstance* instance, gpointer type_class) {
  auto* state = new NodeState;
  state->params = ParamSet(static_cast<NodeClass*>(type_class)->stage->params);
  reinterpret_cast<NodeObject*>(instance)->state = state;
}

/// One type a stage, registered when the first graph has it. The catalogue lives as long as the program.
GType type_of(const StageType& stage) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::string name = "ContornoNode" + camel_case(stage.name);
  if (const GType known = g_type_from_name(name.c_str()); known != 0) return known;
  const GTypeInfo info{.class_size = sizeof(NodeClass),
                       .base_init = nullptr,
                       .base_finalize = nullptr,
                       .class_init = init_class,
                       .class_finalize = nullptr,
                       .class_data = &stage,
                       .instance_size = sizeof(NodeObject),
                       .n_preallocs = 0,
                       .instance_init = init_node,
                       .value_table = nullptr};
  return g_type_register_static(GST_TYPE_OBJECT, name.c_str(), &info, GTypeFlags{});
}

}  // namespace

GstObject* make_node(const NodeSpec& spec, ChangeFlag changed) {
  auto* object = static_cast<GstObject*>(g_object_new(type_of(*spec.type), nullptr));
  gst_object_set_name(object, spec.name.c_str());
  NodeState& state = *reinterpret_cast<NodeObject*>(object)->state;
  const std::lock_guard lock(state.mutex);
  state.params = spec.params;
  state.changed = std::move(changed);
  return object;
}

ParamSet params_of(GstObject* node) {
  NodeState& state = *reinterpret_cast<NodeObject*>(node)->state;
  const std::lock_guard lock(state.mutex);
  return state.params;
}

}  // namespace contorno::gst
