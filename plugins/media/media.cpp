#include "plugins/media/media.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "plugins/media/module.h"
#include "plugins/modules.h"

namespace contorno {

const MediaModule& media_module() {
  return *static_cast<const MediaModule*>(open_module(kGstModule));
}

void decode_with_gstreamer(const std::string& path, std::uint64_t max_pixels, Picture& out) {
  media_module().decode(path, max_pixels, out);
}

MediaReport media_report() {
  return media_module().report();
}

std::vector<CameraReport> camera_reports() {
  return media_module().report_cameras();
}

std::string CameraFormat::text() const {
  std::string list;
  for (const double rate : rates)
    list += fmt::format("{}{:.4g}", list.empty() ? "" : is_range ? " to " : ", ", rate);
  return fmt::format("{} {}{}", pixels, size, list.empty() ? "" : fmt::format(" at {} frames/s", list));
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

namespace {
/// A package of which some element is there is installed: it does not bring the others by being installed.
bool is_installed(const MediaReport& report, const std::string& package) {
  return std::any_of(report.elements.begin(), report.elements.end(),
                     [&](const MediaElement& e) { return e.present && e.package == package; });
}
}  // namespace

std::vector<std::string> MediaReport::missing_packages() const {
  std::set<std::string> packages;
  for (const MediaElement& element : elements)
    if (!element.present && element.device.empty() && !is_installed(*this, element.package))
      packages.insert(element.package);
  return {packages.begin(), packages.end()};
}

std::string MediaReport::remedy(const MediaElement& missing) const {
  if (!missing.device.empty()) return "it needs " + missing.device;
  if (is_installed(*this, missing.package))
    return fmt::format("{} is installed without it; gst-inspect-1.0 {} may say why", missing.package,
                       missing.name);
  return "apt-get install " + missing.package;
}

}  // namespace contorno
