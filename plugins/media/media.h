// Media in and out, through GStreamer: the sources video, images, camera and test, the sinks video, images
// and preview, and what of GStreamer this machine has. No GStreamer type appears here. Sources and sinks
// follow the thread rules of pipeline/graph/source.h and pipeline/graph/sink.h; every value given by a user
// is set as a property of an element and never becomes part of a launch line; the one exception is a launch
// line that the user has allowed (allow_launch_lines).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "pipeline/graph/source.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {

const SourceType& video_source();   ///< a video file or a URI (file, http, rtsp)
const SourceType& images_source();  ///< one image file, a folder of them, or a glob
const SourceType& camera_source();  ///< a Video4Linux camera
const SourceType& test_source();    ///< a synthetic, repeatable picture
const SourceType& gst_source();     ///< an element of GStreamer, or a launch line

/// A launch line in a graph makes any element of GStreamer with any properties, so it can read and write
/// whatever the user can: a graph from elsewhere must not have that by itself. From this call on, which is
/// for a user's own decision (the option --allow-launch), the process takes such graphs. Any thread.
void allow_launch_lines();
bool may_launch();  ///< whether that was called

const SinkType& video_sink();    ///< one video file
const SinkType& images_sink();   ///< one PNG or JPEG file a frame, or an object
const SinkType& preview_sink();  ///< a live window

/// A PictureDecoder::Other: decodes the first picture of a file in any format that GStreamer knows.
void decode_with_gstreamer(const std::string& path, std::uint64_t max_pixels, Picture& out);

/// One element that contorno can use.
struct MediaElement {
  std::string name;     ///< "vp8enc"
  std::string package;  ///< the Debian package that brings it
  std::string purpose;  ///< "writes VP8 video"
  std::string device;   ///< what the machine must have for it, which no package brings; empty = nothing
  bool present = false;
  bool optional = false;  ///< only some formats or devices need it
};

/// What `contorno doctor` says about media.
struct MediaReport {
  std::string version;  ///< "1.22.0"
  std::vector<MediaElement> elements;
  bool finds_contorno = false;  ///< whether GStreamer finds contorno's own elements

  bool complete() const;                              ///< nothing is missing that is not optional
  std::vector<std::string> missing_packages() const;  ///< of all elements, each once, sorted
  /// How to get an element that is missing: a package that is not installed yet, a device, or what to look at
  /// where its package is there without it.
  std::string remedy(const MediaElement& missing) const;
};
MediaReport media_report();

/// Pictures of one size and kind that a camera offers.
struct CameraFormat {
  std::string pixels;         ///< a choice of the parameter pixel_format, or what else GStreamer calls it
  std::string size;           ///< "640x480", "16 to 2592x16 to 1944"
  std::vector<double> rates;  ///< frames a second, in the driver's order
  bool is_range = false;      ///< any rate between the two in `rates`

  std::string text() const;  ///< "yuy2 640x480 at 30, 15 frames/s"
};

/// What `contorno doctor` says about a camera.
struct CameraReport {
  std::string path, name, serial, bus_path;  ///< see CameraNode; `name` is the driver's, "HD Pro Webcam C920"
  std::vector<CameraFormat> formats;
  std::vector<std::string> controls;  ///< "gain: 0 to 255"
  std::string reason;                 ///< why it cannot be used; empty where it can
};
/// Opens each node of the folder of devices for a moment. Nodes that send no pictures, as cameras have them
/// beside others, are left out.
std::vector<CameraReport> camera_reports();

}  // namespace contorno
