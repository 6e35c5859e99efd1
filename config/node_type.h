// Reading the type of a stage, source, sink or step: the word under `type:`. Internal to config/.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/sections.h"

namespace contorno::config {

/// The type that `type:` of `map` names, or null and a problem. `kind` is "stage", "source", "sink" or
/// "step".
template <class Type>
const Type* read_type(const YamlNode& map, const std::vector<const Type*>& types, std::string_view kind,
                      Problems& problems, const std::vector<LeftOut>& left_out = {}) {
  const std::vector<std::string> known = names_of(types);
  const std::string fix = fmt::format("the {}s are {}", kind, fmt::join(known, ", "));
  const YamlEntry* entry = map.find("type");
  if (entry == nullptr) {
    problems.add(map.place, fmt::format("this {} has no 'type'", kind), fix);
    return nullptr;
  }
  const std::string word = entry->value.kind == YamlKind::Scalar ? entry->value.text : std::string();
  for (const Type* type : types)
    if (type->name == word) return type;
  for (const LeftOut& one : left_out)
    if (one.name == word) {
      problems.add(entry->value.place,
                   fmt::format("{} type '{}' is not in this build: {}", kind, word, one.reason), fix,
                   ExitCode::Unavailable);
      return nullptr;
    }
  problems.add(entry->value.place,
               fmt::format("unknown {} type {}{}", kind, describe(entry->value), did_you_mean(word, known)),
               fix);
  return nullptr;
}

}  // namespace contorno::config
