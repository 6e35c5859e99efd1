// RGBA to I420 and back against GStreamer's own converter, which videoconvert is a shell of.
#include "plugins/gst/i420.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace contorno::test {
namespace {

/// A frame of random bytes, in one buffer with the strides that GStreamer chooses.
class Frame {
 public:
  explicit Frame(const std::string& caps_text, unsigned seed) {
    GstCaps* const caps = gst_caps_from_string(caps_text.c_str());
    REQUIRE(gst_video_info_from_caps(&info, caps));
    gst_caps_unref(caps);
    buffer_ = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    REQUIRE(gst_video_frame_map(&frame, &info, buffer_, GST_MAP_READWRITE));
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < info.size; ++i) bytes()[i] = static_cast<std::uint8_t>(random());
  }
  ~Frame() {
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(buffer_);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(frame.data[0]); }
  /// The rows of a frame of RGBA.
  ImageView view() const {
    return {.data = frame.data[0],
            .format = {.width = info.width, .height = info.height, .channels = 4},
            .row_pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)};
  }
  /// All samples of the picture, without what lies behind the rows.
  std::vector<int> samples() const {
    std::vector<int> all;
    for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); ++plane)
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane); ++y) {
        const auto* row = static_cast<const std::uint8_t*>(frame.data[plane]) +
                          static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
        const int bytes =
            GST_VIDEO_FRAME_COMP_WIDTH(&frame, plane) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, plane);
        all.insert(all.end(), row, row + bytes);
      }
    return all;
  }

  GstVideoInfo info{};
  GstVideoFrame frame{};

 private:
  GstBuffer* buffer_ = nullptr;
};

void convert(const Frame& from, Frame& to) {
  GstVideoInfo in = from.info, out = to.info;
  GstVideoConverter* const converter = gst_video_converter_new(&in, &out, nullptr);
  REQUIRE(converter != nullptr);
  gst_video_converter_frame(converter, &from.frame, &to.frame);
  gst_video_converter_free(converter);
}

std::string video_caps(const char* format, int width, int height, const std::string& more = "") {
  return "video/x-raw,format=" + std::string(format) + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=25/1" + more;
}

/// Both ways, of random pictures and of every colour in turn.
void check_size(int width, int height, const std::string& more) {
  CAPTURE(width);
  CAPTURE(height);
  CAPTURE(more);
  const std::string i420 = video_caps("I420", width, height, more);
  const Frame colours(video_caps("RGBA", width, height), 1);
  Frame expected(i420, 2), found(i420, 3);
  convert(colours, expected);
  gst::write_i420(colours.view(), found.frame);
  CHECK(found.samples() == expected.samples());

  const Frame samples(i420, 4);
  Frame expected_back(video_caps("RGBA", width, height), 5), found_back(video_caps("RGBA", width, height), 6);
  convert(samples, expected_back);
  gst::read_i420(samples.frame, found_back.view());
  CHECK(found_back.samples() == expected_back.samples());
}

TEST_CASE("pictures become I420 and RGBA with the bits of GStreamer's converter, at every size") {
  for (int width = 1; width <= 40; ++width)
    for (const int height : {1, 2, 3, 8}) check_size(width, height, "");
  for (const int width : {511, 512, 513, 1023, 1026, 1537}) check_size(width, 5, "");
  check_size(720, 576, "");
  check_size(722, 577, "");  // high definition from here on: another matrix, and other places of chroma
  for (int width = 1; width <= 9; ++width) check_size(width, 600, "");
  for (const int width : {511, 512, 513, 514, 1024, 1025}) check_size(width, 578, "");
  check_size(1281, 721, "");
}

TEST_CASE("pictures become I420 and RGBA with the bits of GStreamer's converter, for every colorimetry") {
  for (const char* one :
       {"bt601", "bt709", "bt2020", "smpte240m", "1:4:0:0", "1:3:5:1", "2:2:0:0", "1:4:0:1"})
    for (const char* site : {"", ",chroma-site=mpeg2", ",chroma-site=jpeg"})
      for (const int width : {64, 203})
        check_size(width, 64, ",colorimetry=(string)" + std::string(one) + site);
}

}  // namespace
}  // namespace contorno::test
