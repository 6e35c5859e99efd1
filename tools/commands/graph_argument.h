// The graph that a command line names: a file, standard input, or a video, pictures or arrays, for which a
// first graph is made. Shared by the commands that load graphs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/camera_spec.h"
#include "tools/source_param.h"

namespace CLI {
class App;
}

namespace contorno {

struct GraphArguments {
  std::string graph, input, output = ".";
  std::vector<std::string> overrides;
};

/// GRAPH, --input, --output, --set and --allow-launch. `arguments` must outlive the command.
void add_graph_arguments(CLI::App& command, GraphArguments& arguments);

/// --set and --allow-launch alone.
void add_graph_overrides(CLI::App& command, GraphArguments& arguments);

/// --backend, with the words that `backend` has in a graph.
void add_graph_backend(CLI::App& command, std::string& backend);
/// The backend that the environment (CONTORNO_BACKEND) names, else that of the option; nothing where neither
/// names one.
std::optional<BackendRequest> forced_backend(std::string backend);

/// What is known of a graph beside what it says.
struct GivenText {
  std::string name;  ///< of the graph's file, for messages and reports
  std::string text;  ///< as it was loaded, without what the command line changes
  // Fields of the FirstGraph, where contorno made the graph; else empty.
  std::string made_for;   ///< its `subject`
  std::string made_stem;  ///< its `stem`
};
struct GivenGraph : GivenText {
  GraphSpec graph;
};
struct GivenFleet : GivenText {
  FleetSpec fleet;
};

/// Loads the graph, or makes one, and tries what its sinks and sources ask for: paths below
/// `arguments.output`, the names in braces that they have ({camera}, {frame}), encoders. `backend` replaces
/// that of the graph. Throws as config::load_graph and first_graph.
GivenGraph load_given_graph(const GraphArguments& arguments, const Catalog& catalog,
                            std::optional<BackendRequest> backend = std::nullopt);

/// load_given_graph for all cameras of a graph that may have `sources:`.
GivenFleet load_given_fleet(const GraphArguments& arguments, const Catalog& catalog,
                            std::optional<BackendRequest> backend = std::nullopt);

/// Says on standard error what is allowed in a graph but odd (config::graph_warnings). A warning that several
/// cameras share is said once.
void tell_graph_warnings(const FleetSpec& fleet);

enum class Announcement : std::uint8_t { Quiet, Said };
/// Writes a graph that was made into the output folder, beside the results, under a name that no other file
/// has (a file with the same text is left as it is), and says what the graph is. Does nothing for one that
/// was given.
void keep_made_graph(const GivenText& given, const GraphArguments& arguments, Announcement announcement);

}  // namespace contorno
