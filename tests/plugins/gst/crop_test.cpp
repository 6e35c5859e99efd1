// Frames of which a meta leaves a part, and what the log says of frames.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "tests/plugins/gst/harness.h"

namespace contorno::test {
namespace {

/// A frame of 64 x 48 that is light from column 30 and row 20 on, of which `x` columns and `y` rows are cut
/// off by a meta.
GstBuffer* cropped(const char* format, guint x, guint y) {
  GstBuffer* const buffer = picture(caps_of(format, 64, 48), 0);
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), 64, 48);
  GstVideoFrame frame;
  REQUIRE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE) != 0);
  const guint grey_parts =
      GST_VIDEO_INFO_IS_YUV(&info) ? 1 : std::min(GST_VIDEO_FRAME_N_COMPONENTS(&frame), 3U);
  for (guint c = 0; c < grey_parts; ++c)
    for (int row = 0; row < 48; ++row)
      for (int column = 0; column < 64; ++column)
        *(static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
          row * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) + column * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)) =
            column < 30 || row < 20 ? 30 : 220;
  gst_video_frame_unmap(&frame);
  gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo->format, 64, 48);
  GstVideoCropMeta* const crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = x, crop->y = y, crop->width = 32, crop->height = 24;
  return buffer;
}

TEST_CASE("the part of a frame that a crop leaves is worked on, its contours counted from its corner") {
  for (const char* format : {"RGBA", "RGB", "GRAY8", "I420", "NV12"}) {
    CAPTURE(format);
    const Harnessed harnessed;
    gst_harness_set_src_caps_str(harnessed, caps_of(format, 32, 24).c_str());
    REQUIRE(gst_harness_push(harnessed, cropped(format, 20, 12)) == GST_FLOW_OK);
    const Pulled got = pull(harnessed);
    const ContornoMeta* const meta = contorno_buffer_get_meta(got.get());
    REQUIRE(meta != nullptr);
    CHECK(meta->width == 32);
    CHECK(meta->height == 24);
    REQUIRE(meta->n_contours == 2);
    for (guint contour = 0; contour < 2; ++contour) {
      guint count = 0;
      const ContornoPoint* const points = contorno_meta_get_points(meta, contour, &count);
      float left = 32, top = 24;
      for (guint i = 0; i < count; ++i)
        left = std::min(left, points[i].col), top = std::min(top, points[i].row);
      CHECK(left > 9);
      CHECK(left < 10);
      CHECK(top > 7);
      CHECK(top < 8);
    }
  }
}

TEST_CASE("a crop that leaves less than the caps say makes its frame fail, by its width or its height") {
  for (const auto& [x, y, fits] : {std::tuple{32U, 24U, true}, {34U, 24U, false}, {32U, 26U, false}}) {
    const Harnessed harnessed;
    gst_harness_set_src_caps_str(harnessed, caps_of("RGBA", 32, 24).c_str());
    REQUIRE(gst_harness_push(harnessed, cropped("RGBA", x, y)) == GST_FLOW_OK);
    const Pulled got = pull(harnessed);
    CHECK((contorno_buffer_get_meta(got.get()) != nullptr) == fits);
    CHECK(harnessed.counted("failed") == (fits ? 0 : 1));
  }
}

/// What the element's log says of frames that leave, while it lives.
class LeavingFrames {
 public:
  LeavingFrames() {
    gst_debug_set_threshold_for_name("contorno", GST_LEVEL_LOG);
    gst_debug_remove_log_function(gst_debug_log_default);  // which prints it
    gst_debug_add_log_function(note, this, nullptr);
  }
  ~LeavingFrames() {
    gst_debug_remove_log_function_by_data(this);
    gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
    gst_debug_unset_threshold_for_name("contorno");
  }
  LeavingFrames(const LeavingFrames&) = delete;
  LeavingFrames& operator=(const LeavingFrames&) = delete;
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  static void note(GstDebugCategory*, GstDebugLevel, const gchar*, const gchar*, gint, GObject*,
                   GstDebugMessage* message, gpointer self) {
    auto& leaving = *static_cast<LeavingFrames*>(self);
    const std::string line = gst_debug_message_get(message);
    const std::lock_guard lock(leaving.mutex_);
    if (line.find(" goes on ") != std::string::npos) leaving.lines_.push_back(line);
  }
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_CASE("the log says of each frame how long it was inside, and how many contours it has") {
  LeavingFrames leaving;
  const auto begin = std::chrono::steady_clock::now();
  const std::string caps = caps_of("RGB", 32, 24);
  {
    const Harnessed harnessed;
    gst_harness_set_src_caps_str(harnessed, caps.c_str());
    for (int i = 0; i < 3; ++i) CHECK(gst_harness_push(harnessed, picture(caps, 40 * i)) == GST_FLOW_OK);
    for (int i = 0; i < 3; ++i) pull(harnessed);
  }
  const double took_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const std::vector<std::string> lines = leaving.lines();
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    unsigned long long frame = 0, contours = 0;
    double inside_ms = -1;
    CAPTURE(lines[i]);
    REQUIRE(std::sscanf(lines[i].c_str(), "frame %llu goes on %lf ms after it came, with %llu contours",
                        &frame, &inside_ms, &contours) == 3);
    CHECK(frame == i);
    CHECK(contours == 2);
    CHECK(inside_ms >= 0);
    CHECK(inside_ms <= took_ms);
  }
}

}  // namespace
}  // namespace contorno::test
