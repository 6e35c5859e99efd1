// The kernels by which frames of NV12 on a device become RGBA and are drawn on, run on the host by the
// emulator, against GStreamer's own converter: by its results frames in memory of the host are processed.
#include <gst/video/video.h>  // before the emulator, which gives names of attributes another meaning

#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "plugins/gst/element/nv12_kernels.cuh"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plugins/gst/element/nv12_colours.h"

namespace contorno::gst {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::array kSizes{std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 3},   std::pair{2, 7},
                            std::pair{7, 2}, std::pair{4, 1}, std::pair{33, 21}, std::pair{66, 10}};

GstVideoInfo info_of(GstVideoFormat format, int width, int height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, static_cast<guint>(width), static_cast<guint>(height));
  return info;
}

/// Every way in which chroma may lie, for some colorimetries: of broadcasts, of JPEG, and older ones.
std::vector<GstVideoInfo> kinds(int width, int height) {
  std::vector<GstVideoInfo> infos;
  for (const char* colorimetry : {"bt601", "bt709", "1:4:5:1", "1:3:5:1", "bt2020", "smpte240m", "2:2:5:1"})
    for (const unsigned site : {0U, 1U, 2U, 4U, 6U}) {
      GstVideoInfo info = info_of(GST_VIDEO_FORMAT_NV12, width, height);
      REQUIRE(gst_video_colorimetry_from_string(&info.colorimetry, colorimetry));
      info.chroma_site = static_cast<GstVideoChromaSite>(site);
      infos.push_back(info);
    }
  return infos;
}

Bytes noise(std::size_t size, unsigned seed) {
  std::minstd_rand random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 8U);
  return bytes;
}

GstVideoFrame frame_of(const GstVideoInfo& info, Bytes& bytes) {
  GstVideoFrame frame{};
  frame.info = info;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane)
    frame.data[plane] = bytes.data() + info.offset[plane];
  return frame;
}

/// As GStreamer converts it.
Bytes converted(const GstVideoInfo& from, Bytes bytes, const GstVideoInfo& to) {
  GstVideoInfo source = from, target = to;
  const std::unique_ptr<GstVideoConverter, void (*)(GstVideoConverter*)> converter(
      gst_video_converter_new(&source, &target, nullptr), gst_video_converter_free);
  Bytes result(GST_VIDEO_INFO_SIZE(&to));
  const GstVideoFrame in = frame_of(from, bytes);
  GstVideoFrame out = frame_of(to, result);
  gst_video_converter_frame(converter.get(), &in, &out);
  return result;
}

Nv12Planes planes_of(const GstVideoInfo& info, Bytes& bytes) {
  return {bytes.data(), bytes.data() + info.offset[1], info.stride[0], info.stride[1], info.width,
          info.height};
}

ImageView view_of(Bytes& rgba, int width, int height) {
  return {rgba.data(), {.width = width, .height = height, .channels = 4}, std::ptrdiff_t{4} * width, 0};
}

/// One block a row, as wide as these frames.
template <class Kernel>
void run(int rows, const Kernel& kernel) {
  emulated::run_grid(static_cast<unsigned>(rows), nv12_cuda::kThreads, 0, false, kernel);
}

std::string describe(const GstVideoInfo& info) {
  gchar* const colorimetry = gst_video_colorimetry_to_string(&info.colorimetry);
  std::string text = std::to_string(info.width) + " x " + std::to_string(info.height) + ", " + colorimetry +
                     ", site " + std::to_string(info.chroma_site);
  g_free(colorimetry);
  return text;
}

/// The samples of `drawn` where a pixel of them differs, the others from `frame`.
Bytes with_changes(const GstVideoInfo& info, Bytes frame, const Bytes& drawn, const Bytes& before,
                   const Bytes& after) {
  for (int y = 0; y < info.height; ++y)
    for (int x = 0; x < info.width; ++x) {
      const auto pixel = 4 * static_cast<std::size_t>(y * info.width + x);
      if (std::equal(&before[pixel], &before[pixel] + 4, &after[pixel])) continue;
      const auto luma = static_cast<std::size_t>(y * info.stride[0] + x);
      const auto chroma = info.offset[1] + static_cast<std::size_t>(y / 2 * info.stride[1] + x / 2 * 2);
      for (const std::size_t place : {luma, chroma, chroma + 1}) frame[place] = drawn[place];
    }
  return frame;
}

TEST_CASE("frames of NV12 become RGBA on a device as they do on the host, to the bit") {
  for (const auto& [width, height] : kSizes)
    for (const GstVideoInfo& info : kinds(width, height)) {
      CAPTURE(describe(info));
      Bytes frame = noise(GST_VIDEO_INFO_SIZE(&info), 1);
      const GstVideoInfo rgba = info_of(GST_VIDEO_FORMAT_RGBA, width, height);
      Bytes got(GST_VIDEO_INFO_SIZE(&rgba));
      run(height, [&, width = width, height = height] {
        nv12_cuda::nv12_to_rgba(planes_of(info, frame), nv12_colours(info), view_of(got, width, height), 1);
      });
      CHECK(got == converted(info, frame, rgba));
    }
}

TEST_CASE("what is drawn on a frame of NV12 on a device is what is drawn on the host, to the bit") {
  for (const auto& [width, height] : kSizes)
    for (const GstVideoInfo& info : kinds(width, height)) {
      CAPTURE(describe(info));
      Bytes frame = noise(GST_VIDEO_INFO_SIZE(&info), 1);
      const GstVideoInfo rgba = info_of(GST_VIDEO_FORMAT_RGBA, width, height);
      Bytes before = converted(info, frame, rgba), after = before;
      const Bytes colours = noise(after.size(), 2), where = noise(after.size() / 4, 3);
      for (std::size_t i = 0; i < after.size(); ++i)
        if (where[i / 4] < 64 && i % 4 != 3) after[i] = colours[i];
      const Bytes expected = with_changes(info, frame, converted(rgba, after, info), before, after);
      run((height + 1) / 2, [&, width = width, height = height] {
        nv12_cuda::changes_to_nv12(view_of(before, width, height), view_of(after, width, height),
                                   nv12_colours(info), planes_of(info, frame), 1);
      });
      CHECK(frame == expected);
    }
}

TEST_CASE("frames of NV12 on a device without known colours, or of two fields, are refused with the reason") {
  GstVideoInfo info = info_of(GST_VIDEO_FORMAT_NV12, 64, 48);
  info.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_UNKNOWN;
  CHECK_THROWS_WITH_AS(nv12_colours(info), doctest::Contains("the colours are not known"), Error);
  info = info_of(GST_VIDEO_FORMAT_NV12, 64, 48);
  info.interlace_mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
  CHECK_THROWS_WITH_AS(nv12_colours(info), doctest::Contains("of two fields"), Error);
}

}  // namespace
}  // namespace contorno::gst
