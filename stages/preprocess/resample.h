// Resampling of one axis as a table of taps: output sample i is the sum of weight[i][j] * input[first[i] +
// j], j ascending. Nearest has one tap, bilinear two, area as many as the output sample covers. The tables
// are made on the host when a stage is planned; the sums are those of Resample, which both backends run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "pipeline/value/image.h"

namespace contorno {

/// Auto: area where the axis shrinks, bilinear where it grows.
enum class ResampleFilter : std::uint8_t { Auto, Nearest, Bilinear, Area };

/// The taps of one axis; owns nothing.
struct AxisTaps {
  const int* first = nullptr;
  const int* count = nullptr;
  const float* weights = nullptr;  ///< `stride` a sample
  int stride = 0;
};

/// The taps of one axis, with their memory.
struct AxisTable {
  std::vector<int> first, count;
  std::vector<float> weights;
  int stride = 0;
  AxisTaps taps() const { return {first.data(), count.data(), weights.data(), stride}; }
};

/// The table for `output` samples from `input` samples that begin at position `offset` (a crop). Pixels are
/// squares with their centres at integers, so that the outer edges of the image stay in place. Weights of
/// Area are exact ratios, rounded once.
AxisTable make_axis_table(int offset, int input, int output, ResampleFilter filter);

/// Reads samples of an image of either type (uint8, float32) and layout as floats.
struct SampleReader {
  const char* data = nullptr;
  std::ptrdiff_t row_pitch = 0, pixel_pitch = 0, channel_pitch = 0;
  bool floating = false;

  CONTORNO_HD float operator()(int x, int y, int channel) const {
    const char* at = data + y * row_pitch + x * pixel_pitch + channel * channel_pitch;
    return floating ? *reinterpret_cast<const float*>(at)
                    : static_cast<float>(*reinterpret_cast<const std::uint8_t*>(at));
  }
};
/// Only U8 and F32.
SampleReader reader_of(const ImageView& image);

/// The value of one output sample: down the columns first, then along the row.
struct Resample {
  SampleReader in;
  AxisTaps horizontal, vertical;

  CONTORNO_HD float column(int x, int y, int channel) const {
    const int first = vertical.first[y];
    const float* weight = vertical.weights + static_cast<std::ptrdiff_t>(y) * vertical.stride;
    float sum = weight[0] * in(x, first, channel);
    for (int j = 1; j < vertical.count[y]; ++j) sum = sum + weight[j] * in(x, first + j, channel);
    return sum;
  }
  CONTORNO_HD float operator()(int x, int y, int channel) const {
    const int first = horizontal.first[x];
    const float* weight = horizontal.weights + static_cast<std::ptrdiff_t>(x) * horizontal.stride;
    float sum = weight[0] * column(first, y, channel);
    for (int i = 1; i < horizontal.count[x]; ++i) sum = sum + weight[i] * column(first + i, y, channel);
    return sum;
  }
};

}  // namespace contorno
