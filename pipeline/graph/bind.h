// What is left open in a graph until its source is open: which of the source's outputs each input takes, and
// the classes where the maps of the source say what they are.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/graph/graph.h"

namespace contorno {

/// The word that stands for the list of classes where bind_source takes them from the maps.
inline constexpr std::string_view kClassesOfMaps = "auto";
/// The colour of class number `index` of a graph that gives it none.
Colour class_colour(std::size_t index);
/// The stage that makes class maps by the references and ranges of the classes, which mean nothing without
/// it.
inline bool looks_at_colours(const StageType& type) {
  return type.name == "classify";
}

/// Once the source is open: takes the classes from its maps where the graph says `classes: auto`, settles
/// every input that takes "whatever the source delivers" (Origin:: kFrameOrMaps, kMapsOrFrame) and checks
/// that source.frame and source.maps exist where they are used. In a stream of maps without frames, nodes and
/// sinks that need a frame (an overlay) are taken out, as long as a sink is left, or without any sink a node.
/// Returns a sentence that names them, or nothing. Throws Error(BadConfig) with all that is missing.
std::string bind_source(GraphSpec& graph, const StreamFormat& stream);

/// Opens the graph's source and tells it how many classes are expected.
std::unique_ptr<Source> make_source(const GraphSpec& graph);
/// A source that a graph is bound to.
struct BoundSource {
  std::unique_ptr<Source> source;
  std::string notice;  ///< what bind_source has to tell the user
};
/// make_source, then bind_source.
BoundSource open_source(GraphSpec& graph);

}  // namespace contorno
