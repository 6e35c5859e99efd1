#include "config/options.h"

#include "config/load.h"
#include "config/problems.h"
#include "config/values.h"

namespace contorno::config {

ParamSet params_from_text(const ParamDeclaration& declaration, const std::string& owner,
                          const std::vector<std::pair<std::string, std::string>>& settings,
                          const MaskReader& read_mask, const std::string& option) {
  YamlNode map{.kind = YamlKind::Map};
  std::vector<std::string> names;
  for (const auto& [name, given] : settings) {
    const Place place{.line = 0, .override_index = static_cast<int>(names.size())};
    YamlNode value{
        .kind = YamlKind::Scalar, .style = ScalarStyle::CommandLine, .place = place, .text = given};
    map.entries.push_back({.key = name, .place = place, .value = std::move(value)});
    names.push_back(option + name);
  }
  const SourceText nothing("");
  // A missing key has no place in the file: the fault is reported at the whole owner.
  names.push_back(owner);
  const Place whole{.line = 0, .override_index = static_cast<int>(names.size()) - 1};
  Problems problems("", nothing, names, "");
  ParamSet params(declaration);
  read_params(map, {}, owner, whole, params, problems, read_mask);
  if (!problems.empty()) throw ConfigErrors(problems.code(), problems.report(), problems.size());
  return params;
}

}  // namespace contorno::config
