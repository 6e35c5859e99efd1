// Reading YAML values as parameters: numbers, flags, colours and text, strictly, with a message for
// everything that is refused. Independent of the locale.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/problems.h"
#include "config/yaml_document.h"
#include "pipeline/graph/graph.h"

namespace contorno::config {

/// Reads `value` as `spec` wants it; a mask by `read_mask`, which may be empty. `what` begins the message:
/// "node 'small': sigma". Adds a problem and returns nothing where it does not fit.
std::optional<ParamValue> read_value(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems, const MaskReader& read_mask = {});

/// Reads a list of steps; the entries are written as those of `stages:`, without names. Arguments and result
/// are those of read_value.
std::optional<ParamValue> read_steps(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems, const MaskReader& read_mask);

/// Reads text: quoted, or plain text that cannot mean a number, flag or null.
std::optional<std::string> read_text(const YamlNode& value, const std::string& what, Problems& problems);

/// Sets every key of `map` that `params` declares; `reserved` keys belong to somebody else, all others are
/// unknown. `owner` begins the messages ("node 'small'"); `place` is where a missing key is reported.
void read_params(const YamlNode& map, const std::vector<std::string>& reserved, const std::string& owner,
                 const Place& place, ParamSet& params, Problems& problems, const MaskReader& read_mask = {});

/// Whether `map` is a map; otherwise adds a problem that says what was expected.
bool expect_map(const YamlNode& map, const std::string& what, Problems& problems);

/// The items of a list; a single value is a list of one. The text of a --set is parsed, or split at commas if
/// it has no brackets. Without a value, adds a problem and returns nothing.
std::optional<std::vector<YamlNode>> read_list(const YamlNode& value, const std::string& what,
                                               const std::string& allowed, Problems& problems);

}  // namespace contorno::config
