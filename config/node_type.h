// Reading the type of a stage, source, sink or step: the word under `type:`. Internal to config/.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "config/sections.h"

namespace contorno::config {

/// The words under `type:` that mean this type: its name, and those of its parts.
template <class Type>
std::vector<std::string> words_of(const Type& type) {
  std::vector<std::string> words{type.name};
  if constexpr (std::is_same_v<Type, StageType>)
    for (const PartSpec& part : type.parts) words.push_back(part.name);
  return words;
}
template <class Type>
std::vector<std::string> words_of(const std::vector<const Type*>& types) {
  std::vector<std::string> all;
  for (const Type* type : types)
    for (std::string& word : words_of(*type)) all.push_back(std::move(word));
  return all;
}

/// The type that `type:` of `map` names, or null and a problem. `kind` is "stage", "source", "sink" or
/// "step".
template <class Type>
const Type* read_type(const YamlNode& map, const std::vector<const Type*>& types, std::string_view kind,
                      Problems& problems, const std::vector<LeftOut>& left_out = {}) {
  const std::vector<std::string> known = words_of(types);
  const std::string fix = fmt::format("the {}s are {}", kind, fmt::join(known, ", "));
  const YamlEntry* entry = map.find("type");
  if (entry == nullptr) {
    problems.add(map.place, fmt::format("this {} has no 'type'", kind), fix);
    return nullptr;
  }
  const std::string word = entry->value.kind == YamlKind::Scalar ? entry->value.text : std::string();
  for (const Type* type : types) {
    const std::vector<std::string> words = words_of(*type);
    if (std::find(words.begin(), words.end(), word) != words.end()) return type;
  }
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
