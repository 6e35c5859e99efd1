// Parameters of a graph's source that flags of the command line set.
#pragma once

#include "pipeline/graph/graph.h"

namespace contorno {

/// Sets a parameter of the source that a flag of the same name gives. Throws Error(BadOption) where the
/// source has no such parameter.
void set_source_param(SourceSpec& source, const char* name, const ParamValue& value);

}  // namespace contorno
