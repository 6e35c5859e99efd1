// What the element draws lies in the samples of the frame, and nowhere else of the buffer or around it.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/plugins/gst/harness.h"

namespace contorno::test {
namespace {

constexpr int kWidth = 31, kHeight = 23;
constexpr std::uint8_t kGuard = 0xC3;
constexpr std::size_t kAround = 64;

/// A picture whose rows are longer than their samples and whose planes begin later than they have to, in the
/// middle of memory that belongs to nobody.
struct Padded {
  explicit Padded(const char* format) {
    GstCaps* const parsed = gst_caps_from_string(caps_of(format, kWidth, kHeight).c_str());
    REQUIRE(gst_video_info_from_caps(&info, parsed) != 0);
    gst_caps_unref(parsed);
    gsize at = 5;
    for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
      strides[plane] = GST_VIDEO_INFO_PLANE_STRIDE(&info, plane) + 16;
      offsets[plane] = at;
      int rows = 0;
      for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c)
        if (static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info, c)) == plane)
          rows = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
      at += static_cast<gsize>(rows) * static_cast<gsize>(strides[plane]) + 3;
    }
    memory.assign(kAround + at + kAround, kGuard);
    samples.assign(memory.size(), false);
    const Pulled plain(picture(caps_of(format, kWidth, kHeight), 0));
    GstVideoFrame frame;
    REQUIRE(gst_video_frame_map(&frame, &info, plain.get(), GST_MAP_READ) != 0);
    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&frame); ++c)
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y)
        for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); ++x) {
          const auto plane = static_cast<guint>(GST_VIDEO_FRAME_COMP_PLANE(&frame, c));
          const int within =
              GST_VIDEO_FRAME_COMP_POFFSET(&frame, c) + x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
          const auto* const from =
              static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
              y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane) + within;
          const std::size_t to = kAround + offsets[plane] +
                                 static_cast<std::size_t>(y) * static_cast<std::size_t>(strides[plane]) +
                                 static_cast<std::size_t>(within);
          const int bytes = GST_VIDEO_FRAME_COMP_DEPTH(&frame, c) > 8 ? 2 : 1;
          for (int i = 0; i < bytes; ++i) memory[to + i] = from[i], samples[to + i] = true;
        }
    gst_video_frame_unmap(&frame);
    buffer = gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), memory.data() + kAround, at, 0, at,
                                         nullptr, nullptr);
    GST_BUFFER_PTS(buffer) = 0;
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), kWidth,
                                   kHeight, GST_VIDEO_INFO_N_PLANES(&info), offsets, strides);
  }

  GstVideoInfo info;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
  std::vector<std::uint8_t> memory;
  std::vector<bool> samples;  ///< which of these bytes are samples of the picture
  GstBuffer* buffer = nullptr;
};

TEST_CASE("no byte beside the samples of a frame changes, before, between or behind its rows") {
  for (const char* format : {"RGBA", "RGBx", "BGRA", "RGB", "NV12", "I420", "GRAY8", "GRAY16_LE"}) {
    CAPTURE(format);
    const Harnessed harnessed;
    g_object_set(harnessed.element(), "overlay", TRUE, nullptr);
    gst_harness_set_src_caps_str(harnessed, caps_of(format, kWidth, kHeight).c_str());
    Padded padded(format);
    const std::vector<std::uint8_t> before = padded.memory;
    REQUIRE(gst_harness_push(harnessed, padded.buffer) == GST_FLOW_OK);
    const Pulled got = pull(harnessed);
    CHECK(got.get() == padded.buffer);
    std::size_t drawn = 0, beside = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (padded.memory[i] != before[i]) ++(padded.samples[i] ? drawn : beside);
    CHECK(drawn > 0);
    CHECK(beside == 0);
    CHECK(harnessed.counted("failed") == 0);
  }
}

TEST_CASE("a buffer may end with the last sample of its frame, and one byte less makes it fail") {
  for (const char* format : {"RGBA", "RGB", "GRAY8", "I420", "NV12", "GRAY16_LE"})
    for (const std::size_t missing : {0, 1}) {
      CAPTURE(format);
      const Harnessed harnessed;
      gst_harness_set_src_caps_str(harnessed, caps_of(format, kWidth, kHeight).c_str());
      Padded padded(format);
      const auto last = std::find(padded.samples.rbegin(), padded.samples.rend(), true);
      const auto end = static_cast<gssize>(padded.samples.rend() - last) - static_cast<gssize>(kAround);
      gst_buffer_set_size(padded.buffer, end - static_cast<gssize>(missing));
      REQUIRE(gst_harness_push(harnessed, padded.buffer) == GST_FLOW_OK);
      const Pulled got = pull(harnessed);
      CHECK(harnessed.counted("failed") == missing);
      CHECK((contorno_buffer_get_meta(got.get()) != nullptr) == (missing == 0));
    }
}

}  // namespace
}  // namespace contorno::test
