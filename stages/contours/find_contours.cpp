#include "stages/contours/find_contours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "stages/contours/cpu/search.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

/// To the nearest binary16, ties to even.
double round_to_half(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(value), -14) - 10);
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

/// level_between the samples of an image.
template <class T>
double middle(const ImageView& image, SampleScale scale) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool any = false;
  for (int row = 0; row < image.format.height; ++row) {
    const T* samples = image.row<const T>(row);
    for (int col = 0; col < image.format.width; ++col) {
      const double value = value_of(samples[col], scale);
      any |= value == value;
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
  }
  if (!any) return std::numeric_limits<double>::quiet_NaN();
  return level_between(image.format.type, low, high);
}

}  // namespace

void check_find_contours(const ImageView& image, const ImageView& mask) {
  const ImageFormat& format = image.format;
  if (format.channels != 1)
    throw Error(ExitCode::BadData,
                fmt::format("find_contours takes one channel, the image has {}", format.channels));
  if (format.width < 2 || format.height < 2 || format.width > kMaxSide || format.height > kMaxSide)
    throw Error(ExitCode::BadData, fmt::format("the image has {} rows and {} columns, allowed 2 to {} each",
                                               format.height, format.width, kMaxSide));
  if (mask.data == nullptr) return;
  if (mask.format.width != format.width || mask.format.height != format.height || mask.format.channels != 1 ||
      mask.format.type != ElementType::U8)
    throw Error(ExitCode::BadData, fmt::format("the mask is {}, wanted {}x{}x1 uint8, as large as the image",
                                               describe(mask.format), format.width, format.height));
}

double level_between(ElementType type, double low, double high) {
  switch (type) {
    case ElementType::F32:
      return static_cast<double>((static_cast<float>(low) + static_cast<float>(high)) / 2);
    case ElementType::F16:
      return round_to_half(round_to_half(low + high) / 2);
    case ElementType::U8:
    case ElementType::U16:
    case ElementType::F64:
      break;
  }
  return (low + high) / 2;
}

double middle_level(const ImageView& image, SampleScale scale) {
  return with_sample_type(image.format.type, [&]<class T>(const T*) { return middle<T>(image, scale); });
}

FoundContours find_contours(const ImageView& image, const FindContoursOptions& options) {
  check_find_contours(image, options.mask);
  FoundContours found;
  found.level = options.level ? *options.level : middle_level(image, options.scale);

  const ContourSearch search(image, {found.level},
                             {.assembly = {.fully_connected = options.fully_connected,
                                           .positive_orientation = options.positive_orientation,
                                           .scale = options.scale,
                                           .threads = options.threads,
                                           .band_rows = options.band_rows},
                              .mask = options.mask,
                              .simd = options.simd});
  found.points = Buffer<PointD>(search.points());
  found.offsets = Buffer<std::uint32_t>(search.contours() + 1);
  found.closed = Buffer<std::uint8_t>(search.contours());
  std::uint32_t class_begin[2];
  search.emit({.exact_points = found.points.data(),
               .offsets = found.offsets.data(),
               .closed = found.closed.data(),
               .orientation = options.positive_orientation},
              class_begin);
  return found;
}

}  // namespace contorno
