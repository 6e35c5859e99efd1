// The manual pages: contorno(1), one a command, contorno-graph(5) and contorno-stages(7), generated from the
// command line and the declarations of stages, sources and sinks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/graph.h"
#include "tools/shell/command_page.h"

namespace contorno {

struct ManualPage {
  std::string name;  ///< "contorno-run"
  int section = 1;
  std::string text;  ///< roff
  std::string file() const { return name + "." + std::to_string(section); }
};

/// What stands in the head and foot of every page.
struct ManualEdition {
  std::string version;  ///< "contorno 0.1.0"
  std::string date;     ///< as 2026-11-28, or empty
};

/// All pages, those of the commands in their order.
std::vector<ManualPage> manual_pages(const ProgramPages& pages, const Catalog& catalog,
                                     const ManualEdition& edition);

/// The page that `name` means: that of the program ("" or "contorno"), of a command, of graphs ("graph"), one
/// by its own name or file ("contorno-stages.7"), or one of a single source, stage, sink or section. Throws
/// Error(Usage) with the nearest name when there is none.
ManualPage manual_page(const ProgramPages& pages, const Catalog& catalog, const ManualEdition& edition,
                       std::string_view name);

}  // namespace contorno
