// One YAML document as a tree with positions. Only the part of YAML that a graph needs: maps, lists and
// scalars; anchors, aliases, tags, several documents and keys that are no words are refused. Values are not
// converted here: a scalar is its text and the style in which it was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/source_text.h"

namespace contorno::config {

class Problems;
struct YamlEntry;

inline constexpr std::size_t kMaxYamlValues = 20000;

enum class YamlKind : std::uint8_t { Null, Scalar, List, Map };
/// Plain: rot. Quoted: "rot", or a block of text. CommandLine: the raw text of a --set, whose style is not
/// known.
enum class ScalarStyle : std::uint8_t { Plain, Quoted, CommandLine };

struct YamlNode {
  YamlKind kind = YamlKind::Null;
  ScalarStyle style = ScalarStyle::Plain;
  Place place;  ///< where it stands; of a Null: where the key stands whose value is missing
  std::string text;
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;

  const YamlEntry* find(std::string_view key) const;
  YamlEntry* find(std::string_view key);
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlNode value;
};

/// A node in words, for messages: "a map", "a list", "nothing", "'yes'".
std::string describe(const YamlNode& node);

/// Parses the text. Mistakes are added to `problems`; the tree may then be incomplete.
YamlNode parse_yaml(const SourceText& source, Problems& problems);

}  // namespace contorno::config
