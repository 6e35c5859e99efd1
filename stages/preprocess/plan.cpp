#include "stages/preprocess/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "preprocess: " + sentence);
}

int whole(double value, std::string_view key) {
  if (value != std::floor(value))
    refuse(fmt::format("{} has the number {}, only whole numbers of px are allowed", key, value));
  return static_cast<int>(value);
}

PixelBox crop_box(const std::vector<double>& crop, const ImageFormat& in) {
  if (crop.empty()) return {0, 0, in.width, in.height};
  if (crop.size() != 4)
    refuse(fmt::format("crop has {} numbers, allowed 4: [x, y, width, height]", crop.size()));
  const PixelBox box{whole(crop[0], "crop"), whole(crop[1], "crop"), whole(crop[2], "crop"),
                     whole(crop[3], "crop")};
  if (box.width < 1 || box.height < 1 || box.x + box.width > in.width || box.y + box.height > in.height)
    refuse(fmt::format("crop [{}, {}, {}, {}] does not lie in the {}x{} image", box.x, box.y, box.width,
                       box.height, in.width, in.height));
  return box;
}

/// A side of 0, or one that is not given, follows the other one, so that the image keeps its proportions.
std::pair<int, int> output_size(const std::vector<double>& size, const PixelBox& box) {
  if (size.empty()) return {box.width, box.height};
  int width = whole(size[0], "size"), height = size.size() > 1 ? whole(size[1], "size") : 0;
  if (width == 0 && height == 0) refuse("size is [0, 0], allowed at most one 0");
  const auto follow = [](int other, int side, int other_side) {
    const double exact = static_cast<double>(other) * side / other_side;
    return static_cast<int>(std::clamp(std::round(exact), 1.0, static_cast<double>(kMaxSide)));
  };
  if (width == 0) width = follow(height, box.width, box.height);
  if (height == 0) height = follow(width, box.height, box.width);
  return {width, height};
}

int channels_of(PreprocessColour colour, int channels_in) {
  switch (colour) {
    case PreprocessColour::Keep:
      return channels_in;
    case PreprocessColour::Grey:
      return 1;
    case PreprocessColour::Rgb:
    case PreprocessColour::Hsv:
    case PreprocessColour::Hsl:
      return 3;
    case PreprocessColour::Rgba:
      return 4;
  }
  throw InternalError("unknown colour");
}

/// Grey, RGB or RGBA.
bool is_colour_like(int channels) {
  return channels == 1 || channels == 3 || channels == 4;
}

void check_input(const ImageFormat& in, PreprocessColour colour) {
  if (in.type != ElementType::U8 && in.type != ElementType::F16 && in.type != ElementType::F32)
    refuse(fmt::format("the input is {}, allowed uint8, float16 and float32", name_of(in.type)));
  if (!is_colour_like(in.channels) && (in.layout == Layout::Interleaved || colour != PreprocessColour::Keep))
    refuse(
        fmt::format("the input has {} {} channels, allowed 1, 3 or 4 (any number of planes with "
                    "colour: keep)",
                    in.channels, name_of(in.layout)));
}

/// The value for channel c of a list that is empty, has one number for all, or one a channel.
double of_channel(const std::vector<double>& list, int c, int channels, double otherwise,
                  std::string_view key) {
  if (list.empty()) return otherwise;
  if (list.size() == 1) return list[0];
  if (static_cast<int>(list.size()) != channels)
    refuse(fmt::format("{} has {} numbers, allowed 1 or one for each of the {} channels", key, list.size(),
                       channels));
  return list[static_cast<std::size_t>(c)];
}

Placement placed(const Placement& in, const PixelBox& box, int width, int height) {
  const double step_x = static_cast<double>(box.width) / width;
  const double step_y = static_cast<double>(box.height) / height;
  return {.scale_x = in.scale_x * step_x,
          .scale_y = in.scale_y * step_y,
          .offset_x = in.offset_x + box.x * in.scale_x,
          .offset_y = in.offset_y + box.y * in.scale_y};
}

void plan_finish(const PreprocessParams& params, PreprocessPlan& plan) {
  FinishPixel& finish = plan.finish;
  finish = {.colour = params.colour, .channels_in = plan.in.channels, .channels_out = plan.out.channels};
  finish.full = plan.in.type == ElementType::U8 ? 255.0F : 1.0F;
  const bool converts = params.output != PreprocessOutput::Same;
  if (!converts && (params.scale != 0 || !params.mean.empty() || !params.deviation.empty()))
    refuse("scale, mean and deviation need output: uint8 or float32");
  const auto channels = static_cast<std::size_t>(plan.out.channels);
  plan.gains.assign(channels, 1.0F), plan.biases.assign(channels, 0.0F);
  if (!converts) return;
  const double full_out = plan.out.type == ElementType::U8 ? 255 : 1;
  const double scale = params.scale != 0 ? params.scale : full_out / static_cast<double>(finish.full);
  for (int c = 0; c < plan.out.channels; ++c) {
    const double deviation = of_channel(params.deviation, c, plan.out.channels, 1, "deviation");
    const double mean = of_channel(params.mean, c, plan.out.channels, 0, "mean");
    if (deviation <= 0) refuse(fmt::format("deviation has the number {}, allowed above 0", deviation));
    const float gain = static_cast<float>(scale / deviation), bias = static_cast<float>(-mean / deviation);
    plan.gains[static_cast<std::size_t>(c)] = gain, plan.biases[static_cast<std::size_t>(c)] = bias;
    if (c < kMaxPixelChannels) finish.gain[c] = gain, finish.bias[c] = bias;
    if (gain != 1.0F || bias != 0.0F) finish.normalise = true;
  }
}

}  // namespace

PreprocessPlan make_preprocess_plan(const PreprocessParams& params, const PlanContext& context) {
  PreprocessPlan plan;
  const ImageFormat& in = plan.in = context.image(0);
  check_input(in, params.colour);
  const PixelBox& box = plan.box = crop_box(params.crop, in);
  const auto [width, height] = output_size(params.size, box);
  ImageFormat& out = plan.out = in;
  out.width = width, out.height = height;
  out.channels = channels_of(params.colour, in.channels);
  if (in.type == ElementType::F16) out.type = ElementType::F32;
  if (params.output == PreprocessOutput::Float32) out.type = ElementType::F32, out.layout = Layout::Planar;
  if (params.output == PreprocessOutput::Uint8) {
    out.type = ElementType::U8;
    if (is_colour_like(out.channels)) out.layout = Layout::Interleaved;
  }
  out.placement = placed(in.placement, box, width, height);
  plan.horizontal = make_axis_table(box.x, box.width, width, params.filter);
  plan.vertical = make_axis_table(box.y, box.height, height, params.filter);
  plan_finish(params, plan);
  plan.along_rows = width != box.width;
  plan.copy = !plan.along_rows && height == box.height && params.colour == PreprocessColour::Keep &&
              out.type == in.type && out.layout == in.layout && !plan.finish.normalise;
  return plan;
}

}  // namespace contorno
