#include "tools/source_param.h"

#include <fmt/format.h>

#include "base/error.h"

namespace contorno {

void set_source_param(SourceSpec& source, const char* name, const ParamValue& value) {
  if (source.type->params.find(name) == nullptr)
    throw Error(
        ExitCode::BadOption,
        fmt::format("--{}: the source '{}' has no parameter '{}'; 'contorno stages {}' lists what it has",
                    name, source.type->name, name, source.type->name));
  source.params.set(name, value);
}

}  // namespace contorno
