#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/sections.h"

namespace contorno::config {
namespace {

/// Items of stages: and sinks:, in this order.
std::vector<YamlNode*> nodes_of(YamlNode& root) {
  std::vector<YamlNode*> nodes;
  for (const char* section : {"stages", "sinks"})
    if (YamlEntry* entry = root.find(section))
      for (YamlNode& item : entry->value.items) nodes.push_back(&item);
  return nodes;
}

/// Nodes without a name are called by their type; where that is taken, a number is added.
void number_nodes(const std::vector<YamlNode*>& nodes) {
  std::set<std::string> taken;
  for (const YamlNode* node : nodes)
    if (const YamlNode* name = scalar_of(*node, "name")) taken.insert(name->text);
  for (YamlNode* node : nodes) {
    const YamlNode* type = scalar_of(*node, "type");
    if (node->find("name") != nullptr || type == nullptr || !is_node_name(type->text)) continue;
    std::string name = type->text;
    for (int number = 2; !taken.insert(name).second; ++number)
      name = fmt::format("{}_{}", type->text, number);
    if (name == type->text) continue;
    YamlNode given = *type;
    given.text = name;
    node->entries.push_back({.key = "name", .place = type->place, .value = std::move(given)});
  }
}

}  // namespace

void expand_type(YamlNode& item) {
  if (item.kind != YamlKind::Scalar) return;
  if (item.style != ScalarStyle::Plain && !is_node_name(item.text)) return;
  const Place place = item.place;
  YamlNode type = std::move(item);
  item = YamlNode{.kind = YamlKind::Map, .place = place};
  item.entries.push_back({.key = "type", .place = place, .value = std::move(type)});
}

const YamlNode* scalar_of(const YamlNode& map, std::string_view key) {
  const YamlEntry* entry = map.find(key);
  return entry != nullptr && entry->value.kind == YamlKind::Scalar ? &entry->value : nullptr;
}

bool is_node_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 64 && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), fits);
}

void expand_shorthand(YamlNode& root) {
  if (YamlEntry* source = root.find("source")) expand_type(source->value);
  if (YamlEntry* sources = root.find("sources"))
    for (YamlNode& source : sources->value.items) expand_type(source);
  const std::vector<YamlNode*> nodes = nodes_of(root);
  for (YamlNode* node : nodes) expand_type(*node);
  number_nodes(nodes);
}

std::set<std::string> written_keys(const YamlNode& root) {
  std::set<std::string> keys;
  const auto add = [&](const std::string& owner, const YamlNode& map) {
    for (const YamlEntry& entry : map.entries) keys.insert(owner + "." + entry.key);
  };
  for (const YamlEntry& section : root.entries) {
    if (section.value.kind == YamlKind::Map) add(section.key, section.value);
    for (const YamlNode& item : section.value.items)
      add((section.key == "classes" ? "classes." : "") + entry_name(item), item);
  }
  return keys;
}

std::string entry_name(const YamlNode& item) {
  const YamlNode* name = scalar_of(item, "name");
  if (name == nullptr) name = scalar_of(item, "type");
  return name == nullptr ? std::string() : name->text;
}

}  // namespace contorno::config
