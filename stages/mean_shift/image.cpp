#include "stages/mean_shift/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/mean_shift/climber.h"
#include "stages/shared/sample_value.h"

namespace contorno {

MeanShiftImagePlan make_mean_shift_image_plan(const char* stage, const MeanShiftWindowParams& params,
                                              const ImageFormat& in) {
  if (in.type != ElementType::U8 || in.layout != Layout::Interleaved ||
      (in.channels != 1 && in.channels != 3 && in.channels != 4))
    throw Error(ExitCode::BadConfig,
                fmt::format("{}: the input is {}, allowed 1, 3 or 4 interleaved channels of uint8{}", stage,
                            describe(in), conversion_hint_to_uint8(in.type)));
  MeanShiftImagePlan plan;
  plan.in = in;
  plan.decode = srgb_decode_table();
  plan.colours.space = params.space;
  double scale = 1;
  switch (params.space) {
    case MeanShiftSpace::Rgb:
      break;
    case MeanShiftSpace::Luv:
      scale = static_cast<double>(ShiftColours::kLuvScale);
      break;
    case MeanShiftSpace::Lab:
      scale = static_cast<double>(ShiftColours::kLabScale);
      break;
  }
  const double radius = std::min(params.colour * scale, 255.0);
  plan.window = {.spatial = params.spatial,
                 .limit = static_cast<int>(std::nearbyint(radius * radius)),
                 .max_iterations = params.max_iterations,
                 .eps = params.eps,
                 .width = in.width,
                 .height = in.height};
  return plan;
}

ImageClimber::ImageClimber(const MeanShiftImagePlan& plan, Simd simd)
    : plan_(plan), sums_(window_sums(simd, 2 * plan.window.spatial + 1)) {}

std::ptrdiff_t ImageClimber::stride_of(const MeanShiftImagePlan& plan) {
  return static_cast<std::ptrdiff_t>(align_up(static_cast<std::size_t>(plan.in.width), 32));
}

std::size_t ImageClimber::scratch_bytes(const MeanShiftImagePlan& plan) {
  const std::size_t planes = plan.colours.space == MeanShiftSpace::Rgb ? 3 : 6;
  return (static_cast<std::size_t>(stride_of(plan)) * static_cast<std::size_t>(plan.in.height) * planes +
          kPlaneMargin) *
         sizeof(std::uint16_t);
}

void ImageClimber::load(const ImageView& in, std::uint16_t* scratch, int threads) {
  const std::ptrdiff_t stride = stride_of(plan_), size = stride * plan_.in.height;
  const bool separate = plan_.colours.space != MeanShiftSpace::Rgb;
  places_.stride = values_.stride = stride;
  for (int k = 0; k < 3; ++k) {
    places_.component[k] = scratch + k * size;
    values_.component[k] = scratch + (separate ? 3 + k : k) * size;
  }
  ShiftColours colours = plan_.colours;
  colours.decode = plan_.decode.data();
  const int channels = plan_.in.channels;
  for_rows(threads, plan_.in.height, [&](int y) {
    const auto* from = in.row<const std::uint8_t>(y);
    std::uint16_t* to = scratch + y * stride;
    for (int x = 0; x < plan_.in.width; ++x, from += channels) {
      // The only channel of a grey image, without the two that would count it three times.
      const std::uint8_t rgb[3] = {from[0], channels > 1 ? from[1] : std::uint8_t{0},
                                   channels > 1 ? from[2] : std::uint8_t{0}};
      const std::uint32_t place = separate && channels == 1 ? colours.place(rgb[0], rgb[0], rgb[0])
                                                            : colours.place(rgb[0], rgb[1], rgb[2]);
      for (int k = 0; k < 3; ++k) {
        to[k * size + x] = static_cast<std::uint8_t>(place >> (8 * k));
        if (separate) to[(3 + k) * size + x] = rgb[k];
      }
    }
    for (std::ptrdiff_t x = plan_.in.width; x < stride; ++x)
      for (int k = 0; k < (separate ? 6 : 3); ++k) to[k * size + x] = 0;
  });
  std::fill_n(scratch + (separate ? 6 : 3) * size, kPlaneMargin, std::uint16_t{0});
}

std::uint32_t ImageClimber::place(int x, int y) const {
  const std::ptrdiff_t at = y * places_.stride + x;
  return static_cast<std::uint32_t>(places_.component[0][at]) |
         static_cast<std::uint32_t>(places_.component[1][at]) << 8U |
         static_cast<std::uint32_t>(places_.component[2][at]) << 16U;
}

ShiftEnd ImageClimber::climb(int x, int y) const {
  const std::uint32_t start = place(x, y);
  ShiftEnd end{.state = {x,
                         y,
                         {static_cast<int>(start & 255U), static_cast<int>(start >> 8U & 255U),
                          static_cast<int>(start >> 16U)}}};
  ShiftState last = end.state;  // of the last window that held a pixel
  for (int step = 0; step < plan_.window.max_iterations; ++step) {
    const ShiftSums sums = sums_(plan_.window, places_, places_, end.state);
    if (sums.count == 0) break;
    last = end.state;
    if (shift_to_mean(plan_.window, sums, end.state)) break;
  }
  if (plan_.colours.space == MeanShiftSpace::Rgb) {
    for (int k = 0; k < 3; ++k) end.colour[k] = static_cast<std::uint8_t>(end.state.c[k]);
    return end;
  }
  const ShiftSums sums = sums_(plan_.window, places_, values_, last);
  const double reciprocal = 1.0 / static_cast<double>(sums.count);
  for (int k = 0; k < 3; ++k) end.colour[k] = static_cast<std::uint8_t>(rounded_mean(sums.c[k], reciprocal));
  return end;
}

}  // namespace contorno
