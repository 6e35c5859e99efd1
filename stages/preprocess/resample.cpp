#include "stages/preprocess/resample.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace contorno {
namespace {

struct Tap {
  int index;
  double weight;
};

std::vector<Tap> nearest_tap(std::int64_t i, std::int64_t input, std::int64_t output) {
  return {{static_cast<int>((2 * i + 1) * input / (2 * output)), 1.0}};
}

std::vector<Tap> bilinear_taps(std::int64_t i, std::int64_t input, std::int64_t output) {
  // Twice the centre in units of 1/output px, so that whole positions are found exactly.
  const std::int64_t centre = (2 * i + 1) * input - output;
  const std::int64_t unit = 2 * output;
  if (centre <= 0) return {{0, 1.0}};
  const std::int64_t low = centre / unit;
  if (low >= input - 1) return {{static_cast<int>(input - 1), 1.0}};
  const double fraction = static_cast<double>(centre % unit) / static_cast<double>(unit);
  if (fraction == 0) return {{static_cast<int>(low), 1.0}};
  return {{static_cast<int>(low), 1.0 - fraction}, {static_cast<int>(low + 1), fraction}};
}

std::vector<Tap> area_taps(std::int64_t i, std::int64_t input, std::int64_t output) {
  // In units of 1/output px the output sample covers [i * input, (i + 1) * input).
  const std::int64_t from = i * input, to = from + input;
  std::vector<Tap> taps;
  for (std::int64_t j = from / output; j * output < to; ++j) {
    const std::int64_t covered = std::min(to, (j + 1) * output) - std::max(from, j * output);
    taps.push_back({static_cast<int>(j), static_cast<double>(covered) / static_cast<double>(input)});
  }
  return taps;
}

std::vector<Tap> taps_of(std::int64_t i, int input, int output, ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::Nearest:
      return nearest_tap(i, input, output);
    case ResampleFilter::Bilinear:
      return bilinear_taps(i, input, output);
    case ResampleFilter::Area:
      return area_taps(i, input, output);
    case ResampleFilter::Auto:
      return output < input ? area_taps(i, input, output) : bilinear_taps(i, input, output);
  }
  throw InternalError("unknown filter");
}

}  // namespace

AxisTable make_axis_table(int offset, int input, int output, ResampleFilter filter) {
  AxisTable table;
  std::vector<std::vector<Tap>> all;
  for (int i = 0; i < output; ++i) {
    all.push_back(taps_of(i, input, output, filter));
    table.stride = std::max(table.stride, static_cast<int>(all.back().size()));
  }
  table.weights.assign(static_cast<std::size_t>(output) * static_cast<std::size_t>(table.stride), 0.0F);
  for (std::size_t i = 0; i < all.size(); ++i) {
    table.first.push_back(offset + all[i].front().index);
    table.count.push_back(static_cast<int>(all[i].size()));
    for (std::size_t j = 0; j < all[i].size(); ++j)
      table.weights[i * static_cast<std::size_t>(table.stride) + j] = static_cast<float>(all[i][j].weight);
  }
  return table;
}

SampleReader reader_of(const ImageView& image) {
  const ImageFormat& format = image.format;
  const auto size = static_cast<std::ptrdiff_t>(element_size(format.type));
  const bool interleaved = format.layout == Layout::Interleaved;
  return {.data = static_cast<const char*>(image.data),
          .row_pitch = image.row_pitch,
          .pixel_pitch = interleaved ? size * format.channels : size,
          .channel_pitch = interleaved ? size : image.plane_pitch,
          .floating = format.type == ElementType::F32};
}

}  // namespace contorno
