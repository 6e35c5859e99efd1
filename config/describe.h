// Graphs and types in words: the resolved graph as YAML that loads again, and the help that is generated from
// the declarations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno::config {

/// Shapes that are known once the source is open and the stages are planned.
struct GraphShapes {
  std::optional<StreamFormat> stream;
  std::vector<std::vector<Format>> outputs;  ///< of every node, in the order of its ports
};

/// Which values are printed: all, or only those that the file or the command line sets.
enum class Detail : std::uint8_t { All, Written };

/// The graph as YAML that loads again, with where every input comes from; shapes as comments where they are
/// given.
std::string describe_graph(const GraphSpec& graph, const GraphShapes* shapes = nullptr,
                           Detail detail = Detail::All);

/// "classify.maps", "source.frame"; "source" while it is open which of the two.
std::string name_of(const GraphSpec& graph, const Origin& origin);

enum class TextStyle : std::uint8_t { Plain, Coloured };

/// Everything that a graph may be made of, one line each.
std::string help_overview(const Catalog& catalog, TextStyle style);
/// One stage, source or sink, or the sections "pipeline" and "classes": ports, parameters, example; for
/// "sources", "stages" and "sinks" the list of them. Throws Error(Usage) with the nearest name when there is
/// none of this name.
std::string help_text(const Catalog& catalog, std::string_view name, TextStyle style);

/// A source or sink that the program itself chooses. Throws Error(Unavailable), which says what would bring
/// it, when this build leaves it out.
const SourceType& source_called(const Catalog& catalog, std::string_view name);
const SinkType& sink_called(const Catalog& catalog, std::string_view name);

}  // namespace contorno::config
