// What help says of the parts of graphs, before it has a form: generated from the declarations, and written
// as text for terminals (describe.h) and as manual pages (tools/shell/).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/graph.h"

namespace contorno::config {

/// One port, parameter or part.
struct HelpRow {
  std::string name;
  std::string facts;  ///< what it allows and its default; empty for parts
  std::string sentence;
};

struct HelpTable {
  std::string title;  ///< "inputs", "outputs", "parameters" or "parts"
  std::vector<HelpRow> rows;
  std::string after;  ///< a paragraph behind the rows; may be empty
};

/// Lines to be shown as they are.
struct HelpExample {
  std::string title;
  std::string lines;
};

struct HelpPage {
  std::string kind;  ///< "source", "stage", "sink" or "section"
  std::string name, summary;
  std::string facts;  ///< backends of a stage, what a sink takes; may be empty
  std::vector<HelpTable> tables;
  std::vector<HelpExample> examples;
};

HelpPage help_page(const SourceType& type);
HelpPage help_page(const StageType& type);
HelpPage help_page(const SinkType& type);
/// The sections of a graph: all of them ("graph"), and those that have keys of their own, "pipeline" and
/// "classes".
const std::vector<HelpPage>& section_pages();

/// Every page that `name` means: a source, a stage by its name or that of a part of it, a sink, a section.
/// Empty for other names.
std::vector<HelpPage> help_pages(const Catalog& catalog, std::string_view name);

}  // namespace contorno::config
