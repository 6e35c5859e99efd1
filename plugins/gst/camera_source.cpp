#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "plugins/gst/camera_controls.h"
#include "plugins/gst/camera_formats.h"
#include "plugins/gst/parts.h"
#include "plugins/gst/stream_source.h"
#include "plugins/media/camera.h"

namespace contorno::gst {
namespace {

/// `error` of a camera that could not be opened, with what its user can do about it.
Error unopened(const Error& error, const std::string& path, const std::string& subject) {
  const bool is_denied = ::access(path.c_str(), R_OK | W_OK) != 0 && errno == EACCES;
  if (is_denied || std::string_view(error.what()).find("Permission denied") != std::string_view::npos)
    return {error.code(), fmt::format("{}; who may use cameras is in the group video", error.what())};
  if (error.code() == ExitCode::Unavailable && has_element("v4l2src"))
    return {error.code(), fmt::format("{}; another program may be using it", error.what())};
  std::error_code ignored;
  if (error.code() != ExitCode::MissingInput || std::filesystem::exists(path, ignored)) return error;
  return {ExitCode::MissingInput, fmt::format("{}: there is no such camera (there are: {})", subject,
                                              list_of_cameras(device_folder()))};
}

/// A pipeline that has the camera at `path` alone, open from READY on.
GstElement* open_camera(FramePipeline& pipeline, const std::string& path, const std::string& subject) {
  GstElement* camera = pipeline.add("v4l2src");
  g_object_set(camera, "device", path.c_str(), nullptr);
  try {
    pipeline.make_ready(subject);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    throw unopened(error, path, subject);
  }
  return camera;
}

int file_of(GstElement* camera) {
  gint file = -1;
  g_object_get(camera, "device-fd", &file, nullptr);
  return file;
}

Owned<GstCaps> offered_by(GstElement* camera) {
  const Owned<GstPad> pad(gst_element_get_static_pad(camera, "src"));
  return Owned<GstCaps>(gst_pad_query_caps(pad.get(), nullptr));
}

/// The camera is opened first: what it offers and which controls it has is known only then.
void build_camera(FramePipeline& pipeline, const CameraParams& params, const std::string& subject) {
  GstElement* camera = open_camera(pipeline, camera_path(params.device, device_folder()), subject);
  try {
    refuse_other_formats(params, offered_by(camera).get());
    set_camera_controls(file_of(camera), params);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", subject, error.what()));
  }
  GstElement* filter = pipeline.add("capsfilter");
  g_object_set(filter, "caps", wanted_of_camera(params).get(), nullptr);
  link({camera, filter});
  pipeline.decode_behind(filter);
}

}  // namespace

std::unique_ptr<Source> make_camera_source(const CameraParams& params) {
  ensure_init();
  const bool is_path = params.device.find('/') != std::string::npos;
  const std::string subject = is_path ? params.device : "camera " + params.device;
  return std::make_unique<StreamSource>(StreamPlan{
      .build = [params, subject](FramePipeline& p) { build_camera(p, params, subject); },
      .subject = subject,
      .description = "camera " + params.device,
      .timeout_ms = params.timeout,
      .reconnect_attempts = params.reconnect_attempts,
  });
}

std::vector<CameraReport> camera_reports() {
  ensure_init();
  std::vector<CameraReport> reports;
  if (!has_element("v4l2src")) return reports;
  for (const CameraNode& node : camera_nodes(device_folder())) {
    if (!may_send_pictures(node.path)) continue;
    CameraReport report{.path = node.path, .serial = node.serial, .bus_path = node.bus_path};
    try {
      FramePipeline pipeline;
      GstElement* camera = open_camera(pipeline, node.path, node.path);
      gchar* name = nullptr;
      g_object_get(camera, "device-name", &name, nullptr);
      const Owned<gchar> owned(name);
      report.name = name != nullptr ? name : "";
      report.formats = formats_of(offered_by(camera).get());
      for (const CameraControl& control : camera_controls(file_of(camera)))
        report.controls.push_back(fmt::format("{}: {}", control.name, control.allowed()));
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      report.reason = error.what();
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace contorno::gst
