// A node of the graph as a child of the element: an object whose properties are the parameters of the node's
// stage, with their ranges, defaults and sentences from the catalogue. `overlay::line-width` is one of them.
// Properties that are numbers, flags or choices can be controlled over time.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <memory>

#include "pipeline/graph/graph.h"

namespace contorno::gst {

/// Set when a parameter is changed; the element clears it when it has taken the new values.
using ChangeFlag = std::shared_ptr<std::atomic<bool>>;

/// A floating reference, as of every new GstObject.
GstObject* make_node(const NodeSpec& spec, ChangeFlag changed);
/// The parameters of the node now. Safe from any thread.
ParamSet params_of(GstObject* node);

}  // namespace contorno::gst
