// The table of functions that the module gst gives the library. The declarations of sources and sinks in this
// folder call them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/param.h"
#include "pipeline/graph/sink.h"
#include "pipeline/graph/source.h"
#include "plugins/media/media.h"
#include "plugins/media/params.h"
#include "plugins/media/timed_pipeline.h"

namespace contorno {

/// Each throws what the function of the declaration that calls it throws (SourceType::make, ...).
struct MediaModule {
  std::unique_ptr<Source> (*make_video_source)(const VideoSourceParams&);
  std::unique_ptr<Source> (*make_camera_source)(const CameraParams&);
  std::unique_ptr<Source> (*make_test_source)(const TestParams&);
  std::unique_ptr<Source> (*make_gst_source)(const GstSourceParams&);
  void (*try_gst_source)(const GstSourceParams&, const ParamTrial&);
  StreamFormat (*foretell_test)(const TestParams&);
  void (*refuse_unknown_pattern)(const TestParams&);
  std::unique_ptr<Sink> (*make_video_sink)(const VideoSinkParams&);
  void (*try_video_sink)(const VideoSinkParams&, const ParamTrial&);
  std::unique_ptr<Sink> (*make_images_sink)(const ImagesSinkParams&);
  void (*try_images_sink)(const ImagesSinkParams&, const ParamTrial&);
  std::unique_ptr<Sink> (*make_preview_sink)(const PreviewParams&);
  void (*decode)(const std::string& path, std::uint64_t max_pixels, Picture& out);
  MediaReport (*report)();
  std::vector<CameraReport> (*report_cameras)();
  std::unique_ptr<TimedPipeline> (*time_pipeline)(const std::string& line);
};

/// Opens the module. Throws ModuleError, Error(OutOfMemory).
const MediaModule& media_module();

}  // namespace contorno
