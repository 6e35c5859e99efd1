#include "stages/network/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/shared/colour.h"

namespace contorno {
namespace {

[[noreturn]] void refuse_tensor(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "network: " + sentence);
}

/// One number a channel; of one number, that.
std::vector<double> a_channel(const char* name, const std::vector<double>& given, int channels,
                              double usual) {
  const auto count = static_cast<std::size_t>(channels);
  if (given.empty()) return std::vector<double>(count, usual);
  if (given.size() == 1) return std::vector<double>(count, given[0]);
  if (given.size() != count)
    refuse_tensor(fmt::format(
        "{} has {} numbers, allowed is one, or one for each of the {} channels that the network takes", name,
        given.size(), channels));
  return given;
}

/// For each of `count` samples the sample that it repeats: the image mirrored at its last sample, which is
/// not doubled, and mirrored again where that is not enough.
std::vector<int> reflected(int samples, int count) {
  std::vector<int> from(static_cast<std::size_t>(count));
  const int period = samples > 1 ? 2 * (samples - 1) : 1;
  for (int i = 0; i < count; ++i) {
    const int at = i % period;
    from[static_cast<std::size_t>(i)] = at < samples ? at : period - at;
  }
  return from;
}

/// "1x3x?x?"
std::string text_of(const std::vector<std::int64_t>& sides) {
  std::string text;
  for (const std::int64_t side : sides) {
    if (!text.empty()) text += 'x';
    text += side == OnnxValue::kAnySide ? "?" : fmt::format("{}", side);
  }
  return text;
}

std::int64_t up_to_multiple(int side, int multiple) {
  return (std::int64_t{side} + multiple - 1) / multiple * multiple;
}

}  // namespace

TensorPlan::TensorPlan(const NetworkParams& params, const ImageFormat& in, const OnnxValue& input)
    : in_(in),
      layout_(params.layout),
      order_(params.order),
      channels_(params.order == ChannelOrder::Gray ? 1 : 3) {
  const bool bytes = in.type == ElementType::U8;
  if ((!bytes && in.type != ElementType::F32) || (in.channels != 1 && in.channels != 3 && in.channels != 4))
    refuse_tensor(
        fmt::format("the input is {}, allowed are 1, 3 or 4 channels of uint8 or float32", describe(in)));
  scale_ = params.scale > 0 ? params.scale : bytes ? 1.0 / 255 : 1.0;
  mean_ = a_channel("mean", params.mean, channels_, 0);
  std_ = a_channel("std", params.std, channels_, 1);
  for (const double one : std_)
    if (one <= 0) refuse_tensor(fmt::format("std has {}, allowed are numbers above 0", one));
  choose_sides(params, input);
  column_ = reflected(in.width, width_);
  row_ = reflected(in.height, height_);
}

void TensorPlan::choose_sides(const NetworkParams& params, const OnnxValue& input) {
  std::int64_t wide = up_to_multiple(in_.width, params.multiple),
               high = up_to_multiple(in_.height, params.multiple);
  if (params.size.size() == 1) refuse_tensor("size has 1 number, allowed are none or two, [width, height]");
  if (!params.size.empty()) {
    wide = static_cast<std::int64_t>(params.size[0]), high = static_cast<std::int64_t>(params.size[1]);
    if (params.multiple != 1) refuse_tensor("size and multiple are both given, allowed is one of them");
    if (static_cast<double>(wide) != params.size[0] || static_cast<double>(high) != params.size[1] ||
        wide < in_.width || high < in_.height)
      refuse_tensor(fmt::format(
          "size is [{}, {}], allowed are whole numbers from the image's [{}, {}] on; a stage preprocess "
          "before makes it smaller",
          params.size[0], params.size[1], in_.width, in_.height));
  }
  if (wide > kMaxSide || high > kMaxSide)
    refuse_tensor(fmt::format("the network's input would have {} x {} samples, allowed are {} a side", wide,
                              high, kMaxSide));
  width_ = static_cast<int>(wide), height_ = static_cast<int>(high);
  const bool nchw = layout_ == TensorLayout::Nchw;
  sides_ = nchw ? TensorSides{1, channels_, high, wide} : TensorSides{1, high, wide, channels_};
  const std::size_t channel_side = nchw ? 1 : 3;
  const auto fixed = [&](std::size_t side) {
    return input.sides[side] != OnnxValue::kAnySide && input.sides[side] != sides_[side];
  };
  if (fixed(channel_side))
    refuse_tensor(
        fmt::format("the model takes {} ({}), with {} channels, while order makes {}; set order, or layout",
                    text_of(input.sides), nchw ? "nchw" : "nhwc", input.sides[channel_side], channels_));
  if (fixed(nchw ? 2 : 1) || fixed(nchw ? 3 : 2))
    refuse_tensor(fmt::format(
        "the model takes {} ({}), while the image, {}, becomes {}; set size to the model's [width, height], "
        "or bring the image to it by a stage preprocess",
        text_of(input.sides), nchw ? "nchw" : "nhwc", describe(in_), describe(sides_)));
}

float TensorPlan::value(const ImageView& image, int x, int y, int channel) const {
  const auto sample = [&](int c) {
    const bool planar = in_.layout == Layout::Planar;
    const std::ptrdiff_t at = planar ? x : std::ptrdiff_t{x} * in_.channels + c;
    const int plane = planar ? c : 0;
    return in_.type == ElementType::U8 ? static_cast<float>(image.row<const std::uint8_t>(y, plane)[at])
                                       : image.row<const float>(y, plane)[at];
  };
  float raw = 0;
  if (in_.channels == 1)
    raw = sample(0);
  else if (order_ == ChannelOrder::Gray)
    raw = luma_of(sample(0), sample(1), sample(2));
  else
    raw = sample(order_ == ChannelOrder::Bgr ? 2 - channel : channel);
  return prepared(raw, channel);
}

void TensorPlan::fill_row(const ImageView& image, float* tensor, int y) const {
  const int from = row_[static_cast<std::size_t>(y)];
  const auto plane = static_cast<std::ptrdiff_t>(width_) * height_,
             row = static_cast<std::ptrdiff_t>(width_) * y;
  for (int c = 0; c < channels_; ++c) {
    float* const to = layout_ == TensorLayout::Nchw ? tensor + c * plane + row : tensor + row * channels_ + c;
    const int step = layout_ == TensorLayout::Nchw ? 1 : channels_;
    for (int x = 0; x < width_; ++x)
      to[std::ptrdiff_t{x} * step] = value(image, column_[static_cast<std::size_t>(x)], from, c);
  }
}

void TensorPlan::fill(const ImageView& image, float* tensor, int threads) const {
  for_rows(threads, height_, [&](int y) { fill_row(image, tensor, y); });
}

void TensorPlan::take(float* tensor, const ImageView& maps, Activation activation, int threads) const {
  const int channels = maps.format.channels;
  const bool nchw = layout_ == TensorLayout::Nchw;
  const std::ptrdiff_t step =
      nchw ? static_cast<std::ptrdiff_t>(width_) * height_ : 1;  // from channel to channel
  const std::ptrdiff_t pixel = nchw ? 1 : channels;
  for_rows(threads, maps.format.height, [&](int y) {
    float* const row = tensor + static_cast<std::ptrdiff_t>(y) * width_ * pixel;
    if (activation == Activation::Softmax)
      for (int x = 0; x < maps.format.width; ++x) softmax(row + x * pixel, channels, step);
    for (int c = 0; c < channels; ++c) {
      auto* const to = maps.row<float>(y, c);
      const float* const from = row + c * step;
      for (int x = 0; x < maps.format.width; ++x)
        to[x] = activation == Activation::Sigmoid ? sigmoid_of(from[x * pixel]) : from[x * pixel];
    }
  });
}

void TensorPlan::fill_with(float* tensor, const std::function<float()>& next) const {
  const float most = in_.type == ElementType::U8 ? 255.0F : 1.0F;
  const std::size_t count = tensor_count(sides_), pixels = count / static_cast<std::size_t>(channels_);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t channel =
        layout_ == TensorLayout::Nchw ? i / pixels : i % static_cast<std::size_t>(channels_);
    tensor[i] = prepared(next() * most, static_cast<int>(channel));
  }
}

double TensorPlan::sum_at_first_pixel(const float* tensor, int channels) const {
  const std::ptrdiff_t step =
      layout_ == TensorLayout::Nchw ? static_cast<std::ptrdiff_t>(width_) * height_ : 1;
  double sum = 0;
  for (int c = 0; c < channels; ++c) sum += static_cast<double>(tensor[c * step]);
  return sum;
}

int TensorPlan::channels_of(const TensorSides& out, const std::string& who) const {
  const bool nchw = layout_ == TensorLayout::Nchw;
  const std::int64_t high = out[nchw ? 2 : 1], wide = out[nchw ? 3 : 2], channels = out[nchw ? 1 : 3];
  if (out[0] != 1 || high != height_ || wide != width_ || channels < 1 || channels > kMaxNetworkChannels)
    throw Error(
        ExitCode::BadConfig,
        fmt::format(
            "{}: it makes {} of {} ({}), allowed are maps as wide and high as its input, 1 to {} channels; "
            "add what brings them to that size to the model, or set layout",
            who, describe(out), describe(sides_), nchw ? "nchw" : "nhwc", kMaxNetworkChannels));
  return static_cast<int>(channels);
}

}  // namespace contorno
