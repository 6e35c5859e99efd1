// A first graph for somebody who has none yet: for the video, pictures or arrays that they name in the place
// of a graph. It runs, shows something, and is written to be edited.
#pragma once

#include <optional>
#include <string>

#include "pipeline/graph/graph.h"

namespace contorno {

struct FirstGraph {
  std::string text;     ///< YAML
  std::string stem;     ///< of the file to write it to
  std::string subject;  ///< "belt.mp4 is a video: ...", one sentence without its full stop
};

/// Nothing where `argument` is a graph, or nothing that is there: whoever loads it then says so. Opens and
/// samples the input. Throws Error(MissingInput, BadData, Unavailable).
std::optional<FirstGraph> first_graph(const std::string& argument, const Catalog& catalog);

/// What `argument` seems to be, by its name and the first bytes of the file.
enum class InputKind : std::uint8_t { Graph, Video, Pictures, Arrays };
InputKind kind_of_input(const std::string& argument);

}  // namespace contorno
