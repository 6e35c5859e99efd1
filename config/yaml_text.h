// Writing YAML: values as the strict loader reads them back. Internal to config/.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/graph/param.h"

namespace contorno::config {

/// `text` as a YAML scalar: plain where that is safe, otherwise in double quotes with escapes.
std::string yaml_text(std::string_view text);
/// A parameter's value as YAML, with text and colours quoted where necessary.
std::string yaml_value(const ParamSpec& spec, const ParamValue& value);

}  // namespace contorno::config
