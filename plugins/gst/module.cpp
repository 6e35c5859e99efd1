#include "pipeline/shared/module.h"

#include "plugins/gst/parts.h"

namespace {
constexpr contorno::MediaModule kTable{
    .make_video_source = contorno::gst::make_video_source,
    .make_camera_source = contorno::gst::make_camera_source,
    .make_test_source = contorno::gst::make_test_source,
    .make_gst_source = contorno::gst::make_gst_source,
    .try_gst_source = contorno::gst::try_gst_source,
    .foretell_test = contorno::gst::foretell_test,
    .refuse_unknown_pattern = contorno::gst::refuse_unknown_pattern,
    .make_video_sink = contorno::gst::make_video_sink,
    .try_video_sink = contorno::gst::try_video_sink,
    .make_images_sink = contorno::gst::make_images_sink,
    .try_images_sink = contorno::gst::try_images_sink,
    .make_preview_sink = contorno::gst::make_preview_sink,
    .decode = contorno::gst::decode_picture,
    .report = contorno::gst::media_report,
    .report_cameras = contorno::gst::camera_reports,
    .time_pipeline = contorno::gst::time_pipeline,
};
}  // namespace

CONTORNO_MODULE(kTable);
