#include "stages/preprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/error.h"
#include "pipeline/loops.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "preprocess: " + sentence);
}

struct Box {
  int x, y, width, height;
};

int whole(double value, std::string_view key) {
  if (value != std::floor(value))
    refuse(fmt::format("{} has the number {}, only whole numbers of px are allowed", key, value));
  return static_cast<int>(value);
}

Box crop_box(const std::vector<double>& crop, const ImageFormat& in) {
  if (crop.empty()) return {0, 0, in.width, in.height};
  if (crop.size() != 4)
    refuse(fmt::format("crop has {} numbers, allowed 4: [x, y, width, height]", crop.size()));
  const Box box{whole(crop[0], "crop"), whole(crop[1], "crop"), whole(crop[2], "crop"),
                whole(crop[3], "crop")};
  if (box.width < 1 || box.height < 1 || box.x + box.width > in.width || box.y + box.height > in.height)
    refuse(fmt::format("crop [{}, {}, {}, {}] does not lie in the {}x{} image", box.x, box.y, box.width,
                       box.height, in.width, in.height));
  return box;
}

/// A side of 0 follows the other one, so that the image keeps its proportions.
std::pair<int, int> output_size(const std::vector<double>& size, const Box& box) {
  if (size.empty()) return {box.width, box.height};
  if (size.size() != 2) refuse(fmt::format("size has {} numbers, allowed 2: [width, height]", size.size()));
  int width = whole(size[0], "size"), height = whole(size[1], "size");
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
      return 3;
    case PreprocessColour::Rgba:
      return 4;
  }
  throw InternalError("unknown colour");
}

void check_input(const ImageFormat& in, PreprocessColour colour) {
  if (in.type != ElementType::U8 && in.type != ElementType::F32)
    refuse(fmt::format("the input is {}, allowed uint8 and float32", name_of(in.type)));
  const bool colour_like = in.channels == 1 || in.channels == 3 || in.channels == 4;
  if (!colour_like && (in.layout == Layout::Interleaved || colour != PreprocessColour::Keep))
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

/// A row of resampled floats: sample (x, c) at data[x * pixel_step + c * channel_step].
struct FloatRow {
  float* data;
  std::ptrdiff_t pixel_step, channel_step;
};

template <class T>
void sum_lines(const ImageView& in, int plane, const AxisTaps& taps, int y, int first_sample, int samples,
               float* sums) {
  const float* weights = taps.weights + static_cast<std::ptrdiff_t>(y) * taps.stride;
  const auto line = [&](int j) { return in.row<const T>(taps.first[y] + j, plane) + first_sample; };
  const T* top = line(0);
  const float weight = weights[0];
  for (int k = 0; k < samples; ++k) sums[k] = weight * static_cast<float>(top[k]);
  for (int j = 1; j < taps.count[y]; ++j) {
    const T* next = line(j);
    const float share = weights[j];
    for (int k = 0; k < samples; ++k) sums[k] = sums[k] + share * static_cast<float>(next[k]);
  }
}

template <int kChannels>
void along_row_of(const float* sums, const AxisTaps& taps, int offset, int width, float* out) {
  for (int x = 0; x < width; ++x) {
    const float* in = sums + static_cast<std::ptrdiff_t>(taps.first[x] - offset) * kChannels;
    const float* weights = taps.weights + static_cast<std::ptrdiff_t>(x) * taps.stride;
    float sum[kChannels];
    for (int c = 0; c < kChannels; ++c) sum[c] = weights[0] * in[c];
    for (int i = 1; i < taps.count[x]; ++i)
      for (int c = 0; c < kChannels; ++c) sum[c] = sum[c] + weights[i] * in[i * kChannels + c];
    for (int c = 0; c < kChannels; ++c) out[x * kChannels + c] = sum[c];
  }
}

void along_row(const float* sums, int channels, const AxisTaps& taps, int offset, int width, float* out) {
  if (channels == 1) return along_row_of<1>(sums, taps, offset, width, out);
  if (channels == 3) return along_row_of<3>(sums, taps, offset, width, out);
  if (channels == 4) return along_row_of<4>(sums, taps, offset, width, out);
  throw InternalError("preprocess: a row of unforeseen channels");
}

template <class T>
T stored(float value) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return to_byte(value);
  else
    return value;
}

template <class T>
void finish_pixels(const FinishPixel& finish, const FloatRow& row, int width, T* to, std::ptrdiff_t step,
                   std::ptrdiff_t next_channel) {
  const FinishPixel local = finish;
  for (int x = 0; x < width; ++x) {
    float pixel[kMaxPixelChannels] = {};
    for (int c = 0; c < local.channels_in; ++c)
      pixel[c] = row.data[x * row.pixel_step + c * row.channel_step];
    local(pixel, pixel);
    for (int c = 0; c < local.channels_out; ++c) to[x * step + c * next_channel] = stored<T>(pixel[c]);
  }
}

template <class T>
void finish_channel(const FloatRow& row, int channel, float gain, float bias, int width, T* to,
                    std::ptrdiff_t step) {
  const float* from = row.data + channel * row.channel_step;
  const bool plain = gain == 1.0F && bias == 0.0F;
  for (int x = 0; x < width; ++x) {
    const float value = from[x * row.pixel_step];
    to[x * step] = stored<T>(plain ? value : value * gain + bias);
  }
}

class PreprocessCpu final : public Stage {
 public:
  explicit PreprocessCpu(const ParamSet& params) : params_(params.as<PreprocessParams>()) {}

  void plan(PlanContext& context) override {
    const ImageFormat& in = context.image(0);
    check_input(in, params_.colour);
    box_ = crop_box(params_.crop, in);
    const auto [width, height] = output_size(params_.size, box_);
    out_ = in;
    out_.width = width, out_.height = height;
    out_.channels = channels_of(params_.colour, in.channels);
    if (params_.output == PreprocessOutput::Float32)
      out_.type = ElementType::F32, out_.layout = Layout::Planar;
    out_.placement = placed(in.placement);
    context.set_output(0, out_);

    horizontal_ = make_axis_table(box_.x, box_.width, width, params_.filter);
    vertical_ = make_axis_table(box_.y, box_.height, height, params_.filter);
    plan_finish(in);
    along_rows_ = width != box_.width;
    copy_ = !along_rows_ && height == box_.height && params_.colour == PreprocessColour::Keep &&
            out_.type == in.type && out_.layout == in.layout && !finish_.normalise;
    strips_ = std::max(1, std::min(context.threads(), height));
    const auto floats = [&](int side) {
      return align_up(static_cast<std::size_t>(side) * static_cast<std::size_t>(in.channels) *
                      sizeof(float)) /
             sizeof(float);
    };
    sums_floats_ = floats(box_.width);
    strip_floats_ = sums_floats_ + (along_rows_ ? floats(width) : 0);
    rows_ =
        context.scratch(strip_floats_ * sizeof(float) * static_cast<std::size_t>(strips_), MemoryKind::Host);
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    for_rows(context.threads, strips_, [&](int strip) {
      const int from = static_cast<int>(static_cast<std::int64_t>(out_.height) * strip / strips_);
      const int to = static_cast<int>(static_cast<std::int64_t>(out_.height) * (strip + 1) / strips_);
      float* sums = context.scratch<float>(rows_) + strip_floats_ * static_cast<std::size_t>(strip);
      for (int y = from; y < to; ++y) {
        if (copy_) {
          copy_row(in, out, y);
        } else {
          column_sums(in, y, sums);
          finish_row(out, y, resampled(sums, in.format));
        }
      }
    });
  }

 private:
  Placement placed(const Placement& in) const {
    const double step_x = static_cast<double>(box_.width) / out_.width;
    const double step_y = static_cast<double>(box_.height) / out_.height;
    return {.scale_x = in.scale_x * step_x,
            .scale_y = in.scale_y * step_y,
            .offset_x = in.offset_x + box_.x * in.scale_x,
            .offset_y = in.offset_y + box_.y * in.scale_y};
  }

  void plan_finish(const ImageFormat& in) {
    finish_ = {.colour = params_.colour, .channels_in = in.channels, .channels_out = out_.channels};
    finish_.full = in.type == ElementType::U8 ? 255.0F : 1.0F;
    const bool floating = params_.output == PreprocessOutput::Float32;
    if (!floating && (params_.scale != 0 || !params_.mean.empty() || !params_.deviation.empty()))
      refuse("scale, mean and deviation need output: float32");
    const auto channels = static_cast<std::size_t>(out_.channels);
    gains_.assign(channels, 1.0F), biases_.assign(channels, 0.0F);
    if (!floating) return;
    const double scale = params_.scale != 0 ? params_.scale : 1.0 / static_cast<double>(finish_.full);
    for (int c = 0; c < out_.channels; ++c) {
      const double deviation = of_channel(params_.deviation, c, out_.channels, 1, "deviation");
      const double mean = of_channel(params_.mean, c, out_.channels, 0, "mean");
      if (deviation <= 0) refuse(fmt::format("deviation has the number {}, allowed above 0", deviation));
      const float gain = static_cast<float>(scale / deviation), bias = static_cast<float>(-mean / deviation);
      gains_[static_cast<std::size_t>(c)] = gain, biases_[static_cast<std::size_t>(c)] = bias;
      if (c < kMaxPixelChannels) finish_.gain[c] = gain, finish_.bias[c] = bias;
      if (gain != 1.0F || bias != 0.0F) finish_.normalise = true;
    }
  }

  void copy_row(const ImageView& in, const ImageView& out, int y) const {
    const int planes = in.format.planes();
    const std::size_t pixel = in.format.row_bytes() / static_cast<std::size_t>(in.format.width);
    for (int plane = 0; plane < planes; ++plane)
      std::memcpy(out.row<char>(y, plane),
                  in.row<char>(y + box_.y, plane) + static_cast<std::size_t>(box_.x) * pixel,
                  out_.row_bytes());
  }

  /// The sums down the columns of output row y for every sample of the crop: neighbours in memory, so that
  /// they run at vector speed and are shared by the samples of the row.
  void column_sums(const ImageView& in, int y, float* sums) const {
    const int per_pixel = in.format.layout == Layout::Interleaved ? in.format.channels : 1;
    const int samples = box_.width * per_pixel;
    for (int plane = 0; plane < in.format.planes(); ++plane, sums += samples) {
      if (in.format.type == ElementType::U8)
        sum_lines<std::uint8_t>(in, plane, vertical_.taps(), y, box_.x * per_pixel, samples, sums);
      else
        sum_lines<float>(in, plane, vertical_.taps(), y, box_.x * per_pixel, samples, sums);
    }
  }

  FloatRow resampled(float* sums, const ImageFormat& in) const {
    const bool interleaved = in.layout == Layout::Interleaved;
    FloatRow row{sums, interleaved ? in.channels : 1, interleaved ? 1 : box_.width};
    if (!along_rows_) return row;
    float* out = sums + sums_floats_;
    const AxisTaps taps = horizontal_.taps();
    if (interleaved) {
      along_row(row.data, in.channels, taps, box_.x, out_.width, out);
      return {out, in.channels, 1};
    }
    for (int c = 0; c < in.channels; ++c)
      along_row(row.data + static_cast<std::ptrdiff_t>(c) * box_.width, 1, taps, box_.x, out_.width,
                out + static_cast<std::ptrdiff_t>(c) * out_.width);
    return {out, 1, out_.width};
  }

  void finish_row(const ImageView& out, int y, const FloatRow& row) const {
    if (out_.type == ElementType::U8)
      finish_row_as<std::uint8_t>(out, y, row);
    else
      finish_row_as<float>(out, y, row);
  }

  template <class T>
  void finish_row_as(const ImageView& out, int y, const FloatRow& row) const {
    const bool interleaved = out_.layout == Layout::Interleaved;
    const std::ptrdiff_t step = interleaved ? out_.channels : 1;
    const std::ptrdiff_t next_channel =
        interleaved ? 1 : out.plane_pitch / static_cast<std::ptrdiff_t>(sizeof(T));
    T* to = out.row<T>(y);
    if (finish_.mixes_channels()) {
      finish_pixels(finish_, row, out_.width, to, step, next_channel);
      return;
    }
    for (int c = 0; c < out_.channels; ++c)
      finish_channel(row, c, gains_[static_cast<std::size_t>(c)], biases_[static_cast<std::size_t>(c)],
                     out_.width, to + c * next_channel, step);
  }

  PreprocessParams params_;
  Box box_{};
  ImageFormat out_;
  AxisTable horizontal_, vertical_;
  FinishPixel finish_;
  std::vector<float> gains_, biases_;
  bool along_rows_ = false, copy_ = false;
  int strips_ = 1;
  std::size_t sums_floats_ = 0, strip_floats_ = 0;
  Scratch rows_;
};

ParamDeclaration preprocess_params() {
  ParamList<PreprocessParams> list;
  list.numbers("crop", &PreprocessParams::crop, 0, 4, 0, kMaxSide, Unit::Pixels,
               "Part of the image to keep, [x, y, width, height]; empty keeps all of it.");
  list.numbers("size", &PreprocessParams::size, 0, 2, 0, kMaxSide, Unit::Pixels,
               "Size to bring it to, [width, height]; a 0 follows the other side, empty keeps the size.");
  list.choice("filter", &PreprocessParams::filter,
              {{"auto", ResampleFilter::Auto},
               {"nearest", ResampleFilter::Nearest},
               {"bilinear", ResampleFilter::Bilinear},
               {"area", ResampleFilter::Area}},
              "How samples are weighted; auto takes area where a side shrinks and bilinear where it grows.");
  list.choice("colour", &PreprocessParams::colour,
              {{"keep", PreprocessColour::Keep},
               {"grey", PreprocessColour::Grey},
               {"rgb", PreprocessColour::Rgb},
               {"rgba", PreprocessColour::Rgba},
               {"hsv", PreprocessColour::Hsv}},
              "Colour model of the output; hue, saturation and value each fill the whole range of the type.");
  list.choice("output", &PreprocessParams::output,
              {{"same", PreprocessOutput::Same}, {"float32", PreprocessOutput::Float32}},
              "Number type and layout; float32 is planar, (v * scale - mean) / deviation a channel.");
  list.number("scale", &PreprocessParams::scale, 0, 1e6, Unit::None,
              "Factor of float32 output; 0 means 1/255 for uint8 input and 1 for float32 input.");
  list.numbers("mean", &PreprocessParams::mean, 0, 256, -1e6, 1e6, Unit::None,
               "Subtracted after scaling: one number, or one a channel; empty means 0.");
  list.numbers("deviation", &PreprocessParams::deviation, 0, 256, 0, 1e6, Unit::None,
               "Divides after that: one number above 0, or one a channel; empty means 1.");
  return declare(std::move(list));
}

}  // namespace

const StageType& preprocess_stage() {
  static const StageType type{
      .name = "preprocess",
      .summary = "Crops, resizes and converts an image in one pass.",
      .inputs = {{"image", PortType::Image, "The frame, or class maps."}},
      .outputs = {{"image", PortType::Image, "The converted image, which knows its place on the frame."}},
      .params = preprocess_params(),
      .example = "- type: preprocess\n  size: [640, 0]\n  colour: rgb\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<PreprocessCpu>(params); },
      .make_cuda = {},
  };
  return type;
}

}  // namespace contorno
