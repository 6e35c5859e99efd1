// Writing YAML: values as the strict loader reads them back. Internal to config/.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/graph/param.h"

namespace contorno::config {

/// Plain where that is safe, else in double quotes with escapes.
std::string yaml_text(std::string_view text);
/// A parameter's value: text and colours quoted where need be.
std::string yaml_value(const ParamSpec& spec, const ParamValue& value);

}  // namespace contorno::config
