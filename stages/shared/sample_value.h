// What a sample of a class map means as a float64: float maps mean themselves, integer maps v / divisor.
// Pure functions for both backends.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/host_device.h"
#include "pipeline/value/image.h"
#include "stages/shared/sample_scale.h"

namespace contorno {

/// IEEE binary16, only as storage.
struct Half {
  std::uint16_t bits = 0;
};

/// Exact: every half is a float.
CONTORNO_HD inline float half_to_float(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = half.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  // The float with the half's exponent and mantissa bits is 2^112 times too small; exact for denormals too.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

/// How the user comes to samples that a stage takes: what the stage says behind the types that it takes,
/// where it does not take `type`.
constexpr std::string_view conversion_hint(ElementType type) {
  return type == ElementType::F16 ? "; a stage preprocess before it makes float32 of float16" : "";
}
/// conversion_hint of stages that take uint8 alone.
constexpr std::string_view conversion_hint_to_uint8(ElementType type) {
  return type == ElementType::F16 || type == ElementType::F32
             ? "; a stage preprocess with output: uint8 before it makes uint8 of samples from 0 to 1"
             : "";
}

CONTORNO_HD inline double value_of(double sample, SampleScale) {
  return sample;
}
CONTORNO_HD inline double value_of(float sample, SampleScale) {
  return static_cast<double>(sample);
}
CONTORNO_HD inline double value_of(Half sample, SampleScale) {
  return static_cast<double>(half_to_float(sample));
}
CONTORNO_HD inline double value_of(std::uint8_t sample, SampleScale scale) {
  return static_cast<double>(sample) / scale.divisor;
}
CONTORNO_HD inline double value_of(std::uint16_t sample, SampleScale scale) {
  return static_cast<double>(sample) / scale.divisor;
}

/// Calls f with a null pointer of the C++ type of `type`'s samples.
template <class F>
decltype(auto) with_sample_type(ElementType type, const F& f) {
  switch (type) {
    case ElementType::U8:
      return f(static_cast<const std::uint8_t*>(nullptr));
    case ElementType::U16:
      return f(static_cast<const std::uint16_t*>(nullptr));
    case ElementType::F16:
      return f(static_cast<const Half*>(nullptr));
    case ElementType::F32:
      return f(static_cast<const float*>(nullptr));
    case ElementType::F64:
      break;
  }
  return f(static_cast<const double*>(nullptr));
}

/// One class of a map, whatever its layout: sample (row, col) of type T at data + row * row_pitch + col *
/// step.
struct Plane {
  const char* data = nullptr;
  std::ptrdiff_t row_pitch = 0;
  std::ptrdiff_t step = 0;
  int width = 0, height = 0;
  ElementType type = ElementType::F32;
  SampleScale scale;

  template <class T>
  CONTORNO_HD double at(int row, int col) const {
    return value_of(*reinterpret_cast<const T*>(data + row * row_pitch + col * step), scale);
  }
  /// The value of a sample whose type is looked up; for where speed does not count.
  double at(int row, int col) const {
    return with_sample_type(type, [&]<class T>(const T*) { return at<T>(row, col); });
  }
};

inline Plane plane_of(const ImageView& map, int channel, SampleScale scale) {
  const bool planar = map.format.layout == Layout::Planar;
  const auto size = static_cast<std::ptrdiff_t>(element_size(map.format.type));
  return {.data = static_cast<const char*>(map.data) + (planar ? channel * map.plane_pitch : channel * size),
          .row_pitch = map.row_pitch,
          .step = planar ? size : size * map.format.channels,
          .width = map.format.width,
          .height = map.format.height,
          .type = map.format.type,
          .scale = scale};
}

}  // namespace contorno
