#include "tools/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pipeline/shared/printable.h"
#include "tools/report.h"
#include "tools/report_object.h"

namespace contorno {
namespace {

using nlohmann::ordered_json;

struct Sums {
  FrameCounts frames;
  double wall_seconds = 0, rate = 0;
  std::uint64_t reconnections = 0;
};

Sums sums_of(const std::vector<CameraOutcome>& cameras) {
  Sums sums;
  for (const CameraOutcome& camera : cameras) {
    sums.frames += camera.report.frames;
    sums.wall_seconds = std::max(sums.wall_seconds, camera.report.wall_seconds);
    sums.reconnections += camera.report.source_reconnections;
  }
  if (sums.wall_seconds > 0) sums.rate = static_cast<double>(sums.frames.delivered) / sums.wall_seconds;
  return sums;
}

}  // namespace

std::string fleet_report_json(const std::vector<CameraOutcome>& cameras, const std::string& graph_file,
                              const std::string& graph_text) {
  ordered_json json = report_head(graph_file, graph_text);
  const Sums sums = sums_of(cameras);
  json["frames"] = frames_object(sums.frames);
  json["wall_seconds"] = sums.wall_seconds;
  json["frames_per_second"] = sums.rate;
  json["source_reconnections"] = sums.reconnections;
  json["cameras"] = ordered_json::object();
  for (const CameraOutcome& camera : cameras) {
    ordered_json one = {{"state", name_of(camera.state)},
                        {"failure", camera.failure.empty() ? ordered_json() : ordered_json(camera.failure)}};
    one.update(report_object(camera.report));
    json["cameras"][camera.name] = std::move(one);
  }
  return report_lines(std::move(json));
}

std::string fleet_report_text(const std::vector<CameraOutcome>& cameras) {
  std::string text;
  for (const CameraOutcome& camera : cameras) {
    text += fmt::format("camera    {}: {}{}\n", camera.name, name_of(camera.state),
                        camera.failure.empty() ? "" : "; " + printable_sentence(camera.failure));
    if (camera.report.slots > 0) text += report_text(camera.report);
  }
  const Sums sums = sums_of(cameras);
  const FrameCounts& frames = sums.frames;
  text += fmt::format("cameras   {}: {} in, {} out, {} failed, {} dropped; {:.1f} frames/s over {:.2f} s\n",
                      cameras.size(), frames.offered, frames.delivered, frames.failed, frames.dropped(),
                      sums.rate, sums.wall_seconds);
  return text;
}

}  // namespace contorno
