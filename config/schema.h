// A JSON Schema (draft 7) of graph files, generated from the declarations, for editors that complete and
// check YAML while it is typed.
#pragma once

#include <nlohmann/json.hpp>

#include "pipeline/graph/graph.h"

namespace contorno::config {

nlohmann::ordered_json schema(const Catalog& catalog);

}  // namespace contorno::config
