// One YAML value into one parameter: the strict reading of numbers, flags, colours and text, and the words
// for everything that is refused. Independent of the locale.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/problems.h"
#include "config/yaml_document.h"
#include "pipeline/graph/param.h"

namespace contorno::config {

/// Reads `value` as `spec` wants it. `what` begins the message: "node 'small': sigma". Adds a problem and
/// returns nothing where it does not fit.
std::optional<ParamValue> read_value(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems);

/// Text: quoted, or plain text that nothing else can be meant by.
std::optional<std::string> read_text(const YamlNode& value, const std::string& what, Problems& problems);

/// Sets every key of `map` that `params` declares; `reserved` keys belong to somebody else, all others are
/// unknown. `owner` begins the messages ("node 'small'"); `place` is where a missing key is reported.
void read_params(const YamlNode& map, const std::vector<std::string>& reserved, const std::string& owner,
                 const Place& place, ParamSet& params, Problems& problems);

/// Whether `map` is one; otherwise a problem that says what was wanted.
bool expect_map(const YamlNode& map, const std::string& what, Problems& problems);

/// The items of a list; one value stands for a list of one. Text of a --set is parsed, or split at commas
/// where it has no brackets. Nothing, and a problem, where there is no value.
std::optional<std::vector<YamlNode>> read_list(const YamlNode& value, const std::string& what,
                                               const std::string& allowed, Problems& problems);

}  // namespace contorno::config
