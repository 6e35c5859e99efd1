#include "plugins/gst/element/nv12_colours.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace contorno::gst {
namespace {

/// A conversion of colours: three rows of factors, each with an offset.
using Matrix = std::array<std::array<double, 4>, 3>;

constexpr double kOne = 256;  // factors are in 256ths

[[noreturn]] void refuse(const GstVideoInfo& info, const std::string& why) {
  gchar* const colorimetry = gst_video_colorimetry_to_string(&info.colorimetry);
  const std::string name = colorimetry != nullptr ? colorimetry : "unknown";
  g_free(colorimetry);
  throw Error(
      ExitCode::BadConfig,
      fmt::format("frames of NV12 in memory of the device with colorimetry {} and interlace-mode {}: {}",
                  name, gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&info)), why));
}

/// The weights of red and blue in Y.
struct Weights {
  double red = 0, blue = 0;
  double green() const { return 1 - red - blue; }
};

struct Range {
  std::array<int, 4> offset{}, scale{};
};
Range range_of(const GstVideoInfo& info) {
  Range range;
  gst_video_color_range_offsets(info.colorimetry.range, gst_video_format_get_info(GST_VIDEO_FORMAT_AYUV),
                                range.offset.data(), range.scale.data());
  return range;
}

/// To R'G'B' of 0 to 255. The offsets are left out: the converter works around 128 and never adds them.
std::array<std::int16_t, 5> make_to_rgb(const Weights& weights, const Range& range) {
  const auto factor = [&](int component, double weight) {
    return static_cast<std::int16_t>(
        std::rint(weight * 255.0 / range.scale[static_cast<std::size_t>(component)] * kOne));
  };
  return {factor(0, 1), factor(2, 2 * (1 - weights.red)), factor(1, 2 * (1 - weights.blue)),
          factor(1, -2 * weights.blue * (1 - weights.blue) / weights.green()),
          factor(2, -2 * weights.red * (1 - weights.red) / weights.green())};
}

/// Factors and offsets from R'G'B' of 0 to 255 to Y, Cb and Cr.
std::array<std::array<int, 4>, 3> make_to_yuv(const Weights& weights, const Range& range) {
  const double blueness = 1 / (2 * (1 - weights.blue)), redness = 1 / (2 * (1 - weights.red));
  const Matrix matrix{{
      {weights.red, weights.green(), weights.blue, 0},
      {-blueness * weights.red, -blueness * weights.green(), blueness * (1 - weights.blue), 0},
      {redness * (1 - weights.red), -redness * weights.green(), -redness * weights.blue, 0},
  }};
  std::array<std::array<int, 4>, 3> result{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      result[row][column] =
          static_cast<int>(std::rint(matrix[row][column] / 255.0 * range.scale[row] * kOne));
    result[row][3] = static_cast<int>(std::rint(range.offset[row] * kOne));
  }
  return result;
}

/// Whether one of the corners of the cube of colours is outside of 8 bits.
bool has_corner_outside(const std::array<std::array<int, 4>, 3>& to_yuv) {
  constexpr unsigned kCorners = 8;
  for (const std::array<int, 4>& row : to_yuv)
    for (unsigned corner = 0; corner < kCorners; ++corner) {
      int sum = row[3];
      for (unsigned i = 0; i < 3; ++i) sum += (corner >> i & 1U) != 0 ? row[i] * 255 : 0;
      if (const int value = sum >> 8; value < 0 || value > 255) return true;
    }
  return false;
}

}  // namespace

Nv12Colours nv12_colours(const GstVideoInfo& info) {
  Weights weights;
  if (gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &weights.red, &weights.blue) == 0)
    refuse(info,
           "the colours are not known; state the colorimetry in the caps, or let cudaconvert make RGBA");
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&info);
  if (mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE && mode != GST_VIDEO_INTERLACE_MODE_MIXED)
    refuse(info, "frames of two fields are not taken; let cudaconvert make RGBA");
  const Range range = range_of(info);
  Nv12Colours colours;
  colours.cosited_x = (info.chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
  colours.cosited_y = (info.chroma_site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0;
  colours.to_rgb = make_to_rgb(weights, range);
  colours.to_yuv = make_to_yuv(weights, range);
  colours.clips = has_corner_outside(colours.to_yuv);
  return colours;
}

}  // namespace contorno::gst
