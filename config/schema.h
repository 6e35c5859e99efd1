// A JSON Schema (draft 7) of graph files, generated from the declarations, for editors that complete and
// check YAML while it is typed.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "pipeline/graph/graph.h"

namespace contorno::config {

/// `version` is that of the program, "0.1.0": the schema says it, and has an identifier with it (`$id`).
/// Empty: neither.
nlohmann::ordered_json schema(const Catalog& catalog, std::string_view version = {});

}  // namespace contorno::config
