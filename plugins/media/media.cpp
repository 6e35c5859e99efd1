#include "plugins/media/media.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "pipeline/shared/module.h"
#include "plugins/media/module.h"

namespace contorno {

const MediaModule& media_module() {
  static constexpr ModuleSpec kSpec{.name = "gst",
                                    .does = "reads and writes media through GStreamer",
                                    .packages = "libgstreamer1.0-0 libgstreamer-plugins-base1.0-0",
                                    .purpose = "for GStreamer",
                                    .addresses = std::size_t{24} << 20};
  return *static_cast<const MediaModule*>(open_module(kSpec));
}

void decode_with_gstreamer(const std::string& path, std::uint64_t max_pixels, Picture& out) {
  media_module().decode(path, max_pixels, out);
}

MediaReport media_report() {
  return media_module().report();
}

namespace {
std::atomic<bool> launch_lines_allowed = false;
}  // namespace

void allow_launch_lines() {
  launch_lines_allowed = true;
}

bool may_launch() {
  return launch_lines_allowed;
}

bool MediaReport::complete() const {
  return std::all_of(elements.begin(), elements.end(),
                     [](const MediaElement& e) { return e.present || e.optional; });
}

std::vector<std::string> MediaReport::missing_packages() const {
  std::set<std::string> packages;
  for (const MediaElement& element : elements)
    if (!element.present && !element.package.empty()) packages.insert(element.package);
  return {packages.begin(), packages.end()};
}

}  // namespace contorno
