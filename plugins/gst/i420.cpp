#include "plugins/gst/i420.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plugins/gst/element/nv12_colours.h"

namespace contorno::gst {
namespace {

constexpr std::size_t kSpan = 512;  // pixels at a time: what is kept of them stays in the first-level cache

/// NV12 and I420 differ in where the samples lie alone.
Nv12Colours colours_of(GstVideoInfo info) {
  gdouble red = 0, blue = 0;
  // Only what is no YCbCr at all has no such matrix; nobody knows how it looks.
  if (gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &red, &blue) == 0)
    info.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_BT601;
  return nv12_colours(info);
}

/// A sample of red, green and blue, in words of 16 bits, of which more fit a vector than of 32. Sums are
/// 0 to 65,535, so what overflows on the way comes back.
struct Weighted {
  explicit Weighted(const std::array<int, 4>& row)
      : red(static_cast<std::uint16_t>(row[0])),
        green(static_cast<std::uint16_t>(row[1])),
        blue(static_cast<std::uint16_t>(row[2])),
        start(static_cast<std::uint16_t>(row[3])) {}
  std::uint16_t of(std::uint16_t r, std::uint16_t g, std::uint16_t b) const {
    return static_cast<std::uint16_t>(static_cast<std::uint16_t>(red * r + green * g + blue * b + start) >>
                                      8U);
  }

  std::uint16_t red, green, blue, start;
};

/// The way back. Samples less 128 are taken for signed fractions of 16 bits, and products for their upper
/// half, where videoconvert's vectors keep them.
struct Inverse {
  explicit Inverse(const Nv12Colours& colours)
      : gray(colours.to_rgb[0]),
        red_of_cr(colours.to_rgb[1]),
        blue_of_cb(colours.to_rgb[2]),
        green_of_cb(colours.to_rgb[3]),
        green_of_cr(colours.to_rgb[4]) {}

  std::int16_t gray, red_of_cr, blue_of_cb, green_of_cb, green_of_cr;
};

std::int16_t fraction(std::uint8_t sample) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(sample * 257U) ^ 0x8080U);
}
std::int16_t product(std::int16_t a, std::int16_t b) {
  return static_cast<std::int16_t>((a * b) >> 16);
}
std::int16_t sum(std::int16_t a, std::int16_t b) {
  return static_cast<std::int16_t>(a + b);
}
std::uint16_t channel(std::int16_t value) {
  const std::int16_t least = value < -128 ? std::int16_t{-128} : value;
  return static_cast<std::uint16_t>((least > 127 ? std::int16_t{127} : least) + 128);
}
std::uint8_t mean(unsigned a, unsigned b) {
  return static_cast<std::uint8_t>((a + b + 1U) >> 1U);
}

/// A row of a plane.
std::uint8_t* row_of(const GstVideoFrame& frame, int plane, int y) {
  auto* data = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
  return data + static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
}

/// Chroma of the columns of a span, and how it becomes that of every second one.
class Columns {
 public:
  std::uint8_t* samples() { return samples_ + 1; }

  /// Writes a sample for each two of the `count` columns at `x` of a row of `width`.
  void halve(std::size_t x, std::size_t count, std::size_t width, bool cosited, std::uint8_t* out) {
    std::uint8_t* own = samples();
    if (x == 0) own[-1] = own[0];
    if (count % 2 != 0)
      own[count] = own[count - 1];
    else if (cosited && x + count == width && width > 2)
      own[count - 1] = own[count - 2];  // videoconvert does not look at the last column
    if (cosited)
      over_columns(own, (count + 1) / 2, out);
    else
      between_columns(own, (count + 1) / 2, out);
    own[-1] = own[count - 1];
  }

 private:
  /// Samples that lie between two columns.
  static void between_columns(const std::uint8_t* own, std::size_t samples, std::uint8_t* __restrict out) {
    for (std::size_t i = 0; i < samples; ++i) out[i] = mean(own[2 * i], own[2 * i + 1]);
  }
  /// Samples that lie in the first of two columns.
  static void over_columns(const std::uint8_t* own, std::size_t samples, std::uint8_t* __restrict out) {
    for (std::size_t i = 0; i < samples; ++i) {
      const unsigned before = *(own + 2 * i - 1), here = own[2 * i], behind = own[2 * i + 1];
      out[i] = static_cast<std::uint8_t>((before + 2 * here + behind + 2U) >> 2U);
    }
  }

  std::uint8_t samples_[1 + kSpan + 1];  // with one on either side
};

/// Two rows of a picture and what becomes of them.
struct RowPair {
  const std::uint8_t *upper, *lower;
  std::uint8_t *upper_luma, *lower_luma, *cb, *cr;
};

void write_rows(const Nv12Colours& colours, const RowPair& rows, std::size_t width) {
  const Weighted luma(colours.to_yuv[0]), to_cb(colours.to_yuv[1]), to_cr(colours.to_yuv[2]);
  Columns blues, reds;
  std::uint8_t *blue = blues.samples(), *red = reds.samples();
  for (std::size_t x = 0; x < width; x += kSpan) {
    const std::size_t count = std::min(kSpan, width - x);
    const std::uint8_t *above = rows.upper + 4 * x, *below = rows.lower + 4 * x;
    std::uint8_t *first = rows.upper_luma + x, *second = rows.lower_luma + x;
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t a = 0, b = 0;
      std::memcpy(&a, above + 4 * i, sizeof(a));
      std::memcpy(&b, below + 4 * i, sizeof(b));
      const auto part = [](std::uint32_t pixel, unsigned bits) {
        return static_cast<std::uint16_t>(pixel >> bits & 255U);
      };
      const std::uint16_t r = part(a, 0), g = part(a, 8), b1 = part(a, 16);
      const std::uint16_t r2 = part(b, 0), g2 = part(b, 8), b2 = part(b, 16);
      first[i] = static_cast<std::uint8_t>(luma.of(r, g, b1));
      second[i] = static_cast<std::uint8_t>(luma.of(r2, g2, b2));
      blue[i] = mean(to_cb.of(r, g, b1), to_cb.of(r2, g2, b2));
      red[i] = mean(to_cr.of(r, g, b1), to_cr.of(r2, g2, b2));
    }
    blues.halve(x, count, width, colours.cosited_x, rows.cb + x / 2);
    reds.halve(x, count, width, colours.cosited_x, rows.cr + x / 2);
  }
}

/// What the chroma of a span adds to the channels of its pixels.
struct Added {
  // Plain: checked access would keep them out of vectors.
  alignas(64) std::int16_t red[kSpan], green[kSpan], blue[kSpan];

  void set(const Inverse& inverse, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t samples) {
    const auto twice = [](std::int16_t value, std::int16_t* to) {
      const std::uint32_t pair = static_cast<std::uint16_t>(value) * 0x10001U;
      std::memcpy(to, &pair, sizeof(pair));
    };
    for (std::size_t i = 0; i < samples; ++i) {
      const std::int16_t b = fraction(cb[i]), r = fraction(cr[i]);
      twice(product(r, inverse.red_of_cr), red + 2 * i);
      twice(sum(product(b, inverse.green_of_cb), product(r, inverse.green_of_cr)), green + 2 * i);
      twice(product(b, inverse.blue_of_cb), blue + 2 * i);
    }
  }
};

void read_span(const Inverse& inverse, const Added& added, const std::uint8_t* luma, std::size_t count,
               std::uint8_t* rgba) {
  constexpr unsigned kOpaque = 255U << 8U;
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const std::int16_t level = product(fraction(luma[i]), inverse.gray);
    const std::uint16_t red = channel(sum(level, added.red[i]));
    const std::uint16_t green = channel(sum(level, added.green[i]));
    const std::uint16_t blue = channel(sum(level, added.blue[i]));
    // Halves of a pixel, so that these are vectors of 16 bits as well.
    const auto lower = static_cast<std::uint16_t>(red | green << 8U);
    const auto upper = static_cast<std::uint16_t>(blue | kOpaque);
    const std::uint32_t pixel = lower | static_cast<std::uint32_t>(upper) << 16U;
    std::memcpy(rgba + 4 * i, &pixel, sizeof(pixel));
  }
}

}  // namespace

void write_i420(const ImageView& picture, GstVideoFrame& frame) {
  const Nv12Colours colours = colours_of(frame.info);
  const int height = picture.format.height;
  for (int y = 0; y < height; y += 2) {
    const int next = std::min(y + 1, height - 1);  // the last row of an odd height is its own pair
    const RowPair rows{.upper = picture.row<const std::uint8_t>(y),
                       .lower = picture.row<const std::uint8_t>(next),
                       .upper_luma = row_of(frame, 0, y),
                       .lower_luma = row_of(frame, 0, next),
                       .cb = row_of(frame, 1, y / 2),
                       .cr = row_of(frame, 2, y / 2)};
    write_rows(colours, rows, static_cast<std::size_t>(picture.format.width));
  }
}

void read_i420(const GstVideoFrame& frame, const ImageView& picture) {
  const Inverse inverse(colours_of(frame.info));
  const auto width = static_cast<std::size_t>(picture.format.width);
  Added added;
  for (int pair = 0; pair < picture.format.height; pair += 2)
    for (std::size_t x = 0; x < width; x += kSpan) {
      const std::size_t count = std::min(kSpan, width - x);
      added.set(inverse, row_of(frame, 1, pair / 2) + x / 2, row_of(frame, 2, pair / 2) + x / 2,
                (count + 1) / 2);
      for (int y = pair; y < std::min(pair + 2, picture.format.height); ++y)
        read_span(inverse, added, row_of(frame, 0, y) + x, count, picture.row<std::uint8_t>(y) + 4 * x);
    }
}

}  // namespace contorno::gst
