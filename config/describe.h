// Graphs and declarations as text: a loaded graph as YAML that loads again, and the help for stages, sources
// and sinks, which is generated from their declarations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno::config {

/// Shapes that are known once the source is open and the stages are planned.
struct GraphShapes {
  std::optional<StreamFormat> stream{};
  std::vector<std::vector<Format>> outputs{};  ///< formats of every node's outputs, in the order of its ports
  std::string backend{}, memory{};             ///< a sentence each: what a run would take
};

/// Which parameters are printed: all, or only those that the file or the command line sets.
enum class Detail : std::uint8_t { All, Written };

/// The graph as YAML that loads again, with where every input comes from; shapes as comments where they are
/// given.
std::string describe_graph(const GraphSpec& graph, const GraphShapes* shapes = nullptr,
                           Detail detail = Detail::All);

/// An origin in the words of a graph: "classify.maps", "source.frame", or "source" while it is not decided
/// which of its outputs it is.
std::string name_of(const GraphSpec& graph, const Origin& origin);

enum class TextStyle : std::uint8_t { Plain, Coloured };

/// Everything that a graph may be made of, one line each.
std::string help_overview(const Catalog& catalog, TextStyle style);
/// One stage, source or sink, or the sections "graph", "pipeline" and "classes": ports, parameters, example;
/// for "sources", "stages" and "sinks" the list of them. Throws Error(Usage) with the nearest name when there
/// is none of this name.
std::string help_text(const Catalog& catalog, std::string_view name, TextStyle style);
/// A JSON Schema (draft 7) of graph files, for editors that complete and check YAML while it is typed; with
/// the version of contorno.
std::string schema_text(const Catalog& catalog);

/// The declaration of a source or sink that the program chooses by name. Throws Error(Unavailable), which
/// says how to get it, when this build leaves it out.
const SourceType& source_called(const Catalog& catalog, std::string_view name);
const SinkType& sink_called(const Catalog& catalog, std::string_view name);

}  // namespace contorno::config
