// The section `sources:`: each entry becomes the tree of a graph with one source, so that everything else is
// read as for a graph that has one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "config/sections.h"

namespace contorno::config {
namespace {

constexpr const char* kNames =
    "a name is of a-z, 0-9, _ and -, begins with a letter or digit, and has at most 32";
constexpr std::string_view kCameraName = "{camera}";

/// The name of an entry, or nothing where it has none that can be used.
std::string read_camera_name(const YamlNode& item, std::unordered_map<std::string, Place>& seen,
                             Problems& problems) {
  const YamlEntry* name = item.find("name");
  if (name == nullptr) {
    problems.add(item.place, "this source has no 'name'", kNames);
    return {};
  }
  const Place& place = name->value.place;
  if (name->value.kind != YamlKind::Scalar || !is_camera_name(name->value.text)) {
    problems.add(place, fmt::format("name is {}, which is no name of a camera", describe(name->value)),
                 kNames);
    return {};
  }
  const auto [first, is_new] = seen.emplace(name->value.text, place);
  if (!is_new)
    problems.add(place,
                 fmt::format("duplicate camera '{}', first given in {}", name->value.text,
                             problems.name_of(first->second)),
                 "give each source a name of its own");
  return name->value.text;
}

CameraSettings read_camera_settings(const YamlNode& item, const std::string& owner, Problems& problems) {
  ParamSet settings(camera_params());
  YamlNode own = item;
  std::erase_if(own.entries,
                [](const YamlEntry& entry) { return camera_params().find(entry.key) == nullptr; });
  read_params(own, {}, owner, item.place, settings, problems);
  return settings.as<CameraSettings>();
}

/// What `set` changes in the graph of one camera.
std::vector<Override> read_set(const YamlNode& item, const std::string& owner, Problems& problems) {
  std::vector<Override> overrides;
  const YamlEntry* set = item.find("set");
  if (set == nullptr || !expect_map(set->value, owner + ": set", problems)) return overrides;
  for (const YamlEntry& entry : set->value.entries) {
    const auto given = target_and_key(entry.key);
    if (!given)
      problems.add(entry.place, fmt::format("{}: '{}' is no setting", owner, printable(entry.key)),
                   "write NODE.KEY: VALUE, pipeline.KEY: VALUE or classes.NAME.KEY: VALUE");
    else if (given->first == "source" || given->first.starts_with("sources."))
      problems.add(entry.place, fmt::format("{}: set changes the graph, and not a source", owner),
                   fmt::format("write '{}: ...' beside set", printable(given->second)));
    else
      overrides.push_back(
          {.target = given->first, .key = given->second, .value = entry.value, .place = entry.place});
  }
  return overrides;
}

/// Applies "sources.NAME.KEY=VALUE", and takes it out of the command line.
void set_sources(YamlNode& list, std::vector<Override>& command_line, Problems& problems) {
  constexpr std::string_view kPrefix = "sources.";
  std::vector<std::string> names;
  for (const YamlNode& item : list.items) names.push_back(entry_name(item));
  const auto apply = [&](const Override& one) {
    if (one.target != "source" && !one.target.starts_with(kPrefix)) return false;
    const std::string name = one.target == "source" ? "" : one.target.substr(kPrefix.size());
    const auto found = std::find(names.begin(), names.end(), name);
    if (name.empty())
      problems.add(
          one.place, "the graph has several sources, and this names none",
          fmt::format("write sources.NAME.{}=...; they are {}", printable(one.key), fmt::join(names, ", ")));
    else if (one.key == "name" || one.key == "type" || one.key == "set")
      problems.add(one.place, fmt::format("'{}' cannot be set from the command line", one.key),
                   "change it in the file");
    else if (found == names.end())
      problems.add(one.place,
                   fmt::format("unknown source '{}'{}", printable(name), did_you_mean(name, names)),
                   fmt::format("the sources are {}", fmt::join(names, ", ")));
    else
      put(list.items[static_cast<std::size_t>(found - names.begin())], one);
    return true;
  };
  std::erase_if(command_line, apply);
}

void put_camera_name(YamlNode& node, const std::string& camera) {
  for (YamlNode& item : node.items) put_camera_name(item, camera);
  for (YamlEntry& entry : node.entries) put_camera_name(entry.value, camera);
  for (std::size_t at = 0; (at = node.text.find(kCameraName, at)) != std::string::npos;)
    if (at > 0 && node.text[at - 1] == '{')  // {{camera}}: braces that are meant
      at += kCameraName.size();
    else
      node.text.replace(at, kCameraName.size(), camera);
}

/// The cameras of a run cannot share a file.
void refuse_shared_path(const YamlNode& path, const std::string& sink, Problems& problems) {
  if (path.kind != YamlKind::Scalar || path.text.find(kCameraName) != std::string::npos) return;
  if (path.text == "-")
    return problems.add(path.place, fmt::format("sink '{}': the cameras cannot share standard output", sink),
                        "write files: path: \"{camera}.jsonl\"");
  problems.add(
      path.place, fmt::format("sink '{}': all cameras would write to '{}'", sink, printable(path.text)),
      fmt::format("put {{camera}} into the path, which stands for the camera's name: \"{{camera}}/{}\"",
                  printable(path.text)));
}

}  // namespace

std::vector<std::string> camera_keys() {
  std::vector<std::string> keys{"type", "name", "set"};
  for (const ParamSpec& spec : camera_params().specs) keys.push_back(spec.name);
  return keys;
}

std::vector<CameraTree> split_cameras(const YamlNode& root, std::vector<Override>& command_line,
                                      Problems& problems) {
  YamlNode list = root.find("sources")->value;
  std::vector<CameraTree> cameras;
  if (list.kind != YamlKind::List || list.items.empty() || list.items.size() > kMostCameras) {
    const std::string given =
        list.kind == YamlKind::List ? fmt::format("a list of {}", list.items.size()) : describe(list);
    problems.add(list.place,
                 fmt::format("sources is {}, allowed a list of 1 to {} sources", given, kMostCameras),
                 "sources: [{name: north, type: video, location: ...}, ...]");
    if (list.kind != YamlKind::List) return cameras;
  }
  set_sources(list, command_line, problems);
  std::unordered_map<std::string, Place> seen;
  for (const YamlNode& item : list.items) {
    if (!expect_map(item, "a source", problems)) continue;
    CameraTree one;
    one.camera.name = read_camera_name(item, seen, problems);
    const std::string owner = fmt::format("source '{}'", printable(entry_name(item)));
    one.camera.settings = read_camera_settings(item, owner, problems);
    one.set = read_set(item, owner, problems);
    one.root = root;
    YamlEntry& source = *one.root.find("sources");
    source.key = "source";
    source.value = item;
    cameras.push_back(std::move(one));
  }
  return cameras;
}

void name_sinks(YamlNode& root, const std::string& camera, const Catalog& catalog, Problems& problems) {
  YamlEntry* sinks = root.find("sinks");
  if (sinks == nullptr) return;
  for (YamlNode& item : sinks->value.items) {
    const YamlNode* name = item.kind == YamlKind::Map ? scalar_of(item, "type") : nullptr;
    const SinkType* type = name == nullptr ? nullptr : catalog.sink(name->text);
    if (type == nullptr) continue;
    const YamlEntry* path = item.find("path");
    if (path != nullptr && type->params.find("path") != nullptr)
      refuse_shared_path(path->value, printable(entry_name(item)), problems);
    put_camera_name(item, camera);
    if (type->params.find("camera") != nullptr && item.find("camera") == nullptr)
      item.entries.push_back(
          {.key = "camera",
           .place = item.place,
           .value = {
               .kind = YamlKind::Scalar, .style = ScalarStyle::Quoted, .place = item.place, .text = camera}});
  }
}

}  // namespace contorno::config
