// The table of what a codec, a size and a tag mean.
#include "plugins/gst/element/colours.h"

#include <doctest/doctest.h>

#include <string>

namespace contorno::test {
namespace {

GstVideoInfo info_of(const char* format, int width, int height, const char* told, const char* coded) {
  std::string text = std::string("video/x-raw,format=") + format +
                     ",framerate=1/1,width=" + std::to_string(width) + ",height=" + std::to_string(height);
  if (*told != '\0') text += std::string(",colorimetry=(string)") + told;
  GstCaps* const caps = gst_caps_from_string(text.c_str());
  GstVideoInfo info;
  REQUIRE(gst::read_caps(caps, coded, info));
  gst_caps_unref(caps);
  return info;
}

/// "range:matrix" in GStreamer's numbers.
std::string meaning(const char* format, int width, int height, const char* told, const char* coded) {
  const GstVideoInfo info = info_of(format, width, height, told, coded);
  return std::to_string(info.colorimetry.range) + ":" + std::to_string(info.colorimetry.matrix);
}

constexpr const char* kFull = "1:0:0:0";
constexpr const char* kUntagged = "";

}  // namespace

TEST_CASE("a codec with a matrix of its own has it at any size and whatever is tagged") {
  for (const char* codec : {"video/x-vp8", "video/x-theora", "video/x-vp3", "video/x-vp6"})
    for (const int height : {120, 720, 2160}) {
      CHECK(meaning("I420", 1920, height, kUntagged, codec) == "2:4");
      CHECK(meaning("I420", 1920, height, "bt709", codec) == "2:4");
      // Neither FFmpeg nor libvpx has a full range for VP8, whose stream cannot name one.
      const bool vp8 = std::string_view(codec) == "video/x-vp8";
      CHECK(meaning("I420", 1920, height, kFull, codec) == (vp8 ? "2:4" : "1:4"));
    }
  CHECK(meaning("I420", 1920, 1080, kUntagged, "image/jpeg") == "1:4");
  CHECK(meaning("I420", 1920, 1080, "2:3:0:0", "image/jpeg") == "2:4");
}

TEST_CASE("what names no matrix has that of its size, and keeps the range that it names") {
  for (const char* codec : {"video/x-h264", "video/x-h265", "video/x-vp9", ""}) {
    CHECK(meaning("I420", 640, 480, kUntagged, codec) == "2:4");
    CHECK(meaning("I420", 720, 576, kUntagged, codec) == "2:4");
    CHECK(meaning("I420", 720, 578, kUntagged, codec) == "2:3");
    CHECK(meaning("I420", 1280, 544, kUntagged, codec) == "2:3");
    CHECK(meaning("I420", 3840, 2160, kUntagged, codec) == "2:3");
    CHECK(meaning("I420", 640, 480, kFull, codec) == "1:4");
    CHECK(meaning("I420", 1280, 720, kFull, codec) == "1:3");
  }
}

TEST_CASE("planes of AV1 with the matrix of RGB are green, blue and red, and of no other codec") {
  const auto format_of = [](const char* format, const char* told, const char* codec) {
    const GstVideoInfo info = info_of(format, 640, 480, told, codec);
    return std::string(GST_VIDEO_INFO_NAME(&info));
  };
  for (const char* told : {"sRGB", "2:1:0:0", "1:1:0:0"}) {
    CHECK(format_of("Y444", told, "video/x-av1") == "GBR");
    CHECK(format_of("Y444_10LE", told, "video/x-av1") == "GBR_10LE");
    CHECK(format_of("Y444_12LE", told, "video/x-av1") == "GBR_12LE");
    CHECK(format_of("I420", told, "video/x-av1") == "I420");
    CHECK(format_of("Y444", told, "video/x-h264") == "Y444");
    CHECK(format_of("Y444", told, "") == "Y444");
    CHECK(meaning("Y444", 640, 480, told, "video/x-av1").starts_with("1:"));
  }
  CHECK(format_of("Y444", "bt709", "video/x-av1") == "Y444");
}

TEST_CASE("a matrix that is named counts, whatever the size") {
  CHECK(meaning("Y444", 640, 480, "bt709", "video/x-h264") == "2:3");
  CHECK(meaning("I420", 1920, 1080, "bt601", "video/x-h264") == "2:4");
  CHECK(meaning("I420_10LE", 640, 480, "bt2020", "video/x-h265") == "2:6");
  CHECK(meaning("I420", 640, 480, "0:3:0:0", "video/x-h264") == "2:3");
  // That of RGB is none of Y, Cb and Cr.
  CHECK(meaning("Y444", 640, 480, "sRGB", "video/x-h264") == "1:4");
  CHECK(meaning("Y444", 1920, 1080, "sRGB", "video/x-h264") == "1:3");
}

TEST_CASE("grey is of full range unless it names another, and RGB stays as it is") {
  CHECK(meaning("GRAY8", 640, 480, kUntagged, "video/x-h264") == "1:4");
  CHECK(meaning("GRAY16_LE", 640, 480, "2:0:0:0", "video/x-h265") == "2:4");
  CHECK(meaning("RGB", 640, 480, "sRGB", "").substr(2) == "1");
}

}  // namespace contorno::test
