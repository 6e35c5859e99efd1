// What may stand behind --set: NODE.KEY=VALUE, by the graph of the command line, else by all that graphs may
// be made of.
#pragma once

#include <string>

#include "pipeline/graph/graph.h"
#include "tools/shell/completion.h"

namespace contorno {

/// Adds the candidates for `word` to `completion`: names with a dot while it has none, then keys with an
/// equals sign, then the words that a flag or choice may be. `path` is the graph's file; one that is empty,
/// no graph or wrong is as none.
void complete_set(const std::string& word, const std::string& path, const Catalog& catalog,
                  LineCompletion& completion);

/// The words that a parameter may be, where they can be listed.
std::vector<std::string> words_of_param(const ParamSpec& spec);

}  // namespace contorno
