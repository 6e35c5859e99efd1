// The functions of this folder, which becomes the module gst: those of plugins/media/module.h, one by one.
#pragma once

#include "plugins/media/module.h"

namespace contorno::gst {

std::unique_ptr<Source> make_video_source(const VideoSourceParams& params);
std::unique_ptr<Source> make_camera_source(const CameraParams& params);
std::unique_ptr<Source> make_test_source(const TestParams& params);
std::unique_ptr<Source> make_gst_source(const GstSourceParams& params);
void try_gst_source(const GstSourceParams& params, const ParamTrial& trial);
StreamFormat foretell_test(const TestParams& params);
void refuse_unknown_pattern(const TestParams& params);
std::unique_ptr<Sink> make_video_sink(const VideoSinkParams& params);
void try_video_sink(const VideoSinkParams& params, const ParamTrial& trial);
std::unique_ptr<Sink> make_images_sink(const ImagesSinkParams& params);
void try_images_sink(const ImagesSinkParams& params, const ParamTrial& trial);
std::unique_ptr<Sink> make_preview_sink(const PreviewParams& params);
void decode_picture(const std::string& path, std::uint64_t max_pixels, Picture& out);
MediaReport media_report();
std::vector<CameraReport> camera_reports();
std::unique_ptr<TimedPipeline> time_pipeline(const std::string& line);

}  // namespace contorno::gst
