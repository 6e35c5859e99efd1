// The graph that a command line names: a file, standard input, or what is to be looked at, for which a first
// graph is made. Shared by the commands that load graphs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"

namespace CLI {
class App;
}

namespace contorno {

struct GraphArguments {
  std::string graph, input, output = ".";
  std::vector<std::string> overrides;
};

/// GRAPH, --input, --output and --set. `arguments` must outlive the command.
void add_graph_arguments(CLI::App& command, GraphArguments& arguments);

struct GivenGraph {
  GraphSpec graph;
  std::string name;  ///< of the file, for messages and reports
  std::string text;  ///< as it was loaded, without what the command line changes
  /// What was made, where the command line names a video, pictures or arrays: empty for a graph.
  std::string made_for;
  std::string made_stem;  ///< of the file that a graph that was made is kept in
};

/// Tries paths, placeholders and encoders too; outputs in `arguments.output`. Throws as config::load_graph.
GivenGraph load_given_graph(const GraphArguments& arguments, const Catalog& catalog,
                            std::optional<Backend> backend = std::nullopt);

enum class Announcement : std::uint8_t { Quiet, Said };
/// Writes a graph that was made into the output folder, beside the results, under a name that no other file
/// has, and says what it is. Nothing for a graph that was given.
void keep_made_graph(const GivenGraph& given, const GraphArguments& arguments, Announcement announcement);

}  // namespace contorno
