#include "plugins/media/camera.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = "-video-index";

/// The number in `text`, all of it.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A link of udev: "usb-046d_C920_4F2A60DF-video-index0".
struct Link {
  fs::path path;
  std::string stem;    ///< its name without the ending
  unsigned index = 0;  ///< the number at its end
  fs::path node;       ///< what it leads to

  /// Whether a camera that is called so is the one of this link.
  bool answers_to(const std::string& device) const {
    if (device.empty()) return false;
    return device == path.filename() || device == stem || stem.ends_with('_' + device) ||
           stem.ends_with('-' + device);
  }
};

/// The links of cameras in a folder of udev, sorted by name.
std::vector<Link> links_in(const fs::path& folder) {
  std::vector<Link> links;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    Link link{.path = entry.path(), .stem = entry.path().filename().string()};
    if (const std::size_t at = link.stem.rfind(kIndex); at != std::string::npos) {
      const auto index = whole_number<unsigned>(std::string_view(link.stem).substr(at + kIndex.size()));
      if (!index) continue;
      link.index = *index;
      link.stem.resize(at);
    }
    link.node = fs::canonical(entry.path(), error);
    if (!error) links.push_back(std::move(link));
  }
  std::sort(links.begin(), links.end(),
            [](const Link& one, const Link& other) { return one.path < other.path; });
  return links;
}

std::vector<Link> serial_links(const fs::path& devices) {
  return links_in(devices / "v4l" / "by-id");
}
std::vector<Link> bus_links(const fs::path& devices) {
  return links_in(devices / "v4l" / "by-path");
}

/// The number of a node by its name; no value for other names.
std::optional<unsigned> node_number(const std::string& name) {
  constexpr std::string_view kNode = "video";
  if (!name.starts_with(kNode)) return std::nullopt;
  return whole_number<unsigned>(std::string_view(name).substr(kNode.size()));
}

/// The name of the link that leads to `node`, without the bus at its beginning where `cut`.
std::string name_of_node(const std::vector<Link>& links, const fs::path& node, bool cut) {
  for (const Link& link : links)
    if (link.node == node) return cut ? link.stem.substr(link.stem.find('-') + 1) : link.stem;
  return {};
}

std::string description_of(const CameraNode& node) {
  std::string words;
  if (!node.serial.empty()) words += "serial number " + node.serial;
  if (!node.bus_path.empty()) words += (words.empty() ? "bus path " : ", bus path ") + node.bus_path;
  return words.empty() ? node.path : fmt::format("{} ({})", node.path, words);
}

}  // namespace

fs::path device_folder() {
  const char* named = ::secure_getenv("CONTORNO_DEV");
  return named != nullptr && *named != '\0' ? named : "/dev";
}

std::vector<CameraNode> camera_nodes(const fs::path& devices) {
  std::map<unsigned, fs::path> nodes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(devices, ignored))
    if (const auto number = node_number(entry.path().filename().string()))
      nodes.emplace(*number, entry.path());
  const std::vector<Link> serials = serial_links(devices), buses = bus_links(devices);
  std::vector<CameraNode> cameras;
  for (const auto& [number, path] : nodes) {
    const fs::path node = fs::canonical(path, ignored);
    cameras.push_back({.path = path.string(),
                       .serial = name_of_node(serials, node, true),
                       .bus_path = name_of_node(buses, node, false)});
  }
  return cameras;
}

std::string list_of_cameras(const fs::path& devices) {
  std::string list;
  for (const CameraNode& node : camera_nodes(devices))
    list += (list.empty() ? "" : ", ") + description_of(node);
  return list.empty() ? "none" : list;
}

std::string camera_path(const std::string& device, const fs::path& devices) {
  if (device.find('/') != std::string::npos) return device;
  if (node_number(device)) return (devices / device).string();
  std::vector<Link> named = serial_links(devices);
  const std::vector<Link> buses = bus_links(devices);
  named.insert(named.end(), buses.begin(), buses.end());
  std::erase_if(named, [&](const Link& link) { return !link.answers_to(device); });
  if (named.empty())
    throw Error(ExitCode::MissingInput,
                fmt::format("camera {}: no camera has this serial number or bus path (there are: {})", device,
                            list_of_cameras(devices)));
  const auto first = std::min_element(
      named.begin(), named.end(), [](const Link& one, const Link& other) { return one.index < other.index; });
  const auto is_another = [&](const Link& link) {
    return link.index == first->index && link.node != first->node;
  };
  if (std::any_of(named.begin(), named.end(), is_another)) {
    std::string list;
    for (const Link& link : named) list += (list.empty() ? "" : ", ") + link.path.filename().string();
    throw Error(
        ExitCode::BadConfig,
        fmt::format("camera {}: several cameras are called so, allowed is a name of one: {}", device, list));
  }
  return first->path.string();
}

std::vector<std::pair<std::string, std::int64_t>> parse_controls(const std::string& text) {
  constexpr std::string_view kBetween = " ,\t\n";
  std::vector<std::pair<std::string, std::int64_t>> controls;
  std::string_view rest = text;
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
    if (rest.empty()) return controls;
    const std::string_view word = rest.substr(0, rest.find_first_of(kBetween));
    rest.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : whole_number<std::int64_t>(word.substr(equals + 1));
    if (equals == 0 || !value)
      throw Error(
          ExitCode::BadConfig,
          fmt::format("controls has '{}', allowed is NAME=VALUE, an integer, with blanks between them",
                      word));
    controls.emplace_back(word.substr(0, equals), *value);
  }
}

}  // namespace contorno
