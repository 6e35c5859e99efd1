#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "plugins/gst/parts.h"
#include "plugins/gst/pipeline.h"
#include "plugins/gst/x_connection.h"

namespace contorno::gst {
namespace {

constexpr guint64 kWaitingFrames = 2;  // more are dropped: the window may never slow the pipeline

bool set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

/// Shows what it can. Frames that come too fast are dropped and counted; a closed window ends the showing,
/// not the pipeline.
class PreviewSink : public Sink {
 public:
  explicit PreviewSink(const PreviewParams& params) : params_(params) {
    if (!set("DISPLAY"))
      throw Error(
          ExitCode::Unavailable,
          fmt::format("the preview needs an X display, and DISPLAY is not set{}; leave the preview out, or "
                      "write a video",
                      set("WAYLAND_DISPLAY") ? " (a Wayland display shows it through Xwayland)" : ""));
    ensure_init();
  }
  ~PreviewSink() override { close(); }
  PreviewSink(const PreviewSink&) = delete;
  PreviewSink& operator=(const PreviewSink&) = delete;

  void open(const SinkContext& context) override {
    if (!note_.empty()) return;  // the showing has ended
    const auto& format = std::get<ImageFormat>(context.format);
    const char* name = raw_format_of(format);
    const Owned<GstCaps> caps =
        raw_caps(std::strcmp(name, "RGBA") == 0 ? "RGBx" : name, format.width, format.height, 25, 1);
    gst_caps_set_simple(caps.get(), "pixel-aspect-ratio", GST_TYPE_FRACTION, context.stream.pixel_width,
                        context.stream.pixel_height, nullptr);
    if (!pipeline_) build();
    gst_video_info_from_caps(&info_, caps.get());
    gst_app_src_set_caps(GST_APP_SRC(appsrc_), caps.get());
    format_ = format;
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
      const auto message = pop_error(bus_.get());
      const std::string reason =
          message ? to_error(message.get(), "preview").what() : "preview: no window can be opened";
      close();
      throw Error(ExitCode::Unavailable, reason);
    }
    // The window is named after what it shows.
    if (!params_.title.empty())
      gst_element_send_event(
          appsrc_, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, params_.title.c_str(), nullptr)));
  }

  void write(const FrameInfo&, const Value& value) override {
    if (!pipeline_) return;
    if (x_connection_lost()) {
      note_ = ", until the X display went away";
      close();
      return;
    }
    if (const auto message = pop_error(bus_.get())) {
      note_ = fmt::format(", until it ended ({})", to_error(message.get(), "preview").what());
      close();
      return;
    }
    if (gst_app_src_get_current_level_buffers(GST_APP_SRC(appsrc_)) >= kWaitingFrames) {
      ++dropped_;
      return;
    }
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info_), nullptr);
    GstVideoFrame frame;
    if (!buffer || !gst_video_frame_map(&frame, &info_, buffer, GST_MAP_WRITE)) {
      if (buffer) gst_buffer_unref(buffer);
      ++dropped_;
      return;
    }
    const auto& image = std::get<ImageView>(value);
    auto* target = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
    for (int y = 0; y < format_.height; ++y)
      std::memcpy(target + static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
                  image.row<std::uint8_t>(y), format_.row_bytes());
    gst_video_frame_unmap(&frame);
    gst_app_src_push_buffer(GST_APP_SRC(appsrc_), buffer);
    ++shown_;
  }

  void finish() override { close(); }

  std::string summary() const override {
    return fmt::format("preview ({} frames shown, {} left out{})", shown_, dropped_, note_);
  }

 private:
  void build() {
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(params_.title.c_str()))));
    bus_.reset(gst_element_get_bus(pipeline_.get()));
    GstBin* bin = GST_BIN(pipeline_.get());
    appsrc_ = make_element(bin, "appsrc");
    GstElement* convert = make_element(bin, "videoconvert");
    GstElement* scale = make_element(bin, "videoscale");  // to the size that the user gives the window
    GstElement* window = make_element(bin, "ximagesink");
    survive_x_errors();
    g_object_set(appsrc_, "format", GST_FORMAT_TIME, "is-live", TRUE, "do-timestamp", TRUE, "block", FALSE,
                 nullptr);
    g_object_set(window, "sync", FALSE, nullptr);
    link({appsrc_, convert, scale, window});
  }

  void close() {
    if (x_connection_lost()) {
      // The threads of the pipeline are blocked in Xlib, so it is not torn down before the program ends.
      static_cast<void>(pipeline_.release());
      static_cast<void>(bus_.release());
    }
    if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    pipeline_.reset();
    bus_.reset();
  }

  PreviewParams params_;
  ImageFormat format_;
  GstVideoInfo info_{};
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  GstElement* appsrc_ = nullptr;  // owned by pipeline_
  std::uint64_t shown_ = 0, dropped_ = 0;
  std::string note_;
};

}  // namespace

std::unique_ptr<Sink> make_preview_sink(const PreviewParams& params) {
  return std::make_unique<PreviewSink>(params);
}

}  // namespace contorno::gst
