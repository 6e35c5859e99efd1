// Makes a first graph for a user who has none yet, for the video, pictures or arrays that they name in place
// of a graph. It runs as it is, draws contours, and is meant to be edited.
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

/// Opens and samples the input. Returns nothing where `argument` is a graph or does not exist, which the code
/// that loads graphs then reports. Throws Error(MissingInput, BadData, Unavailable).
std::optional<FirstGraph> first_graph(const std::string& argument, const Catalog& catalog);

/// What `argument` seems to be, by its name and the first bytes of the file; Graph where nothing else fits.
/// Throws Error(BadData) for a file of a format that is known and not read.
enum class InputKind : std::uint8_t { Graph, Video, Pictures, Arrays };
InputKind kind_of_input(const std::string& argument);

}  // namespace contorno
