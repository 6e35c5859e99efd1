#include "stages/preprocess/stage.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "stages/preprocess/plan.h"
#include "stages/shared/row_strips.h"

namespace contorno {
namespace {

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
  for (int k = 0; k < samples; ++k) sums[k] = weight * float_of(top[k]);
  for (int j = 1; j < taps.count[y]; ++j) {
    const T* next = line(j);
    const float share = weights[j];
    for (int k = 0; k < samples; ++k) sums[k] = sums[k] + share * float_of(next[k]);
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
  for (int x = 0; x < width; ++x) {
    to[x * step] = stored<T>(finish_one(from[x * row.pixel_step], gain, bias));
  }
}

class PreprocessCpu final : public Stage {
 public:
  explicit PreprocessCpu(const ParamSet& params) : params_(params.as<PreprocessParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_preprocess_plan(params_, context);
    context.set_output(0, plan_.out);
    const auto floats = [&](int width) {
      return aligned_floats(static_cast<std::size_t>(width) * static_cast<std::size_t>(plan_.in.channels));
    };
    sums_floats_ = floats(plan_.box.width);
    strips_ =
        RowStrips(context, plan_.out.height, sums_floats_ + (plan_.along_rows ? floats(plan_.out.width) : 0));
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    strips_.run(context, [&](int from, int to, float* sums) {
      for (int y = from; y < to; ++y) {
        if (plan_.copy) {
          copy_row(in, out, y);
        } else {
          column_sums(in, y, sums);
          finish_row(out, y, resampled(sums, in.format));
        }
      }
    });
  }

 private:
  void copy_row(const ImageView& in, const ImageView& out, int y) const {
    const int planes = in.format.planes();
    const std::size_t pixel = in.format.row_bytes() / static_cast<std::size_t>(in.format.width);
    for (int plane = 0; plane < planes; ++plane)
      std::memcpy(out.row<char>(y, plane),
                  in.row<char>(y + plan_.box.y, plane) + static_cast<std::size_t>(plan_.box.x) * pixel,
                  plan_.out.row_bytes());
  }

  /// The sums down the columns of output row y for every sample of the crop: neighbours in memory, so that
  /// they run at vector speed and are shared by the samples of the row.
  void column_sums(const ImageView& in, int y, float* sums) const {
    const int per_pixel = in.format.layout == Layout::Interleaved ? in.format.channels : 1;
    const int samples = plan_.box.width * per_pixel;
    for (int plane = 0; plane < in.format.planes(); ++plane, sums += samples) {
      const auto sum = [&]<class T>(const T*) {
        sum_lines<T>(in, plane, plan_.vertical.taps(), y, plan_.box.x * per_pixel, samples, sums);
      };
      with_sample_type(in.format.type, sum);
    }
  }

  FloatRow resampled(float* sums, const ImageFormat& in) const {
    const bool interleaved = in.layout == Layout::Interleaved;
    FloatRow row{sums, interleaved ? in.channels : 1, interleaved ? 1 : plan_.box.width};
    if (!plan_.along_rows) return row;
    float* out = sums + sums_floats_;
    const AxisTaps taps = plan_.horizontal.taps();
    if (interleaved) {
      along_row(row.data, in.channels, taps, plan_.box.x, plan_.out.width, out);
      return {out, in.channels, 1};
    }
    for (int c = 0; c < in.channels; ++c)
      along_row(row.data + static_cast<std::ptrdiff_t>(c) * plan_.box.width, 1, taps, plan_.box.x,
                plan_.out.width, out + static_cast<std::ptrdiff_t>(c) * plan_.out.width);
    return {out, 1, plan_.out.width};
  }

  void finish_row(const ImageView& out, int y, const FloatRow& row) const {
    if (plan_.out.type == ElementType::U8)
      finish_row_as<std::uint8_t>(out, y, row);
    else
      finish_row_as<float>(out, y, row);
  }

  template <class T>
  void finish_row_as(const ImageView& out, int y, const FloatRow& row) const {
    const bool interleaved = plan_.out.layout == Layout::Interleaved;
    const std::ptrdiff_t step = interleaved ? plan_.out.channels : 1;
    const std::ptrdiff_t next_channel =
        interleaved ? 1 : out.plane_pitch / static_cast<std::ptrdiff_t>(sizeof(T));
    T* to = out.row<T>(y);
    if (plan_.finish.mixes_channels()) {
      finish_pixels(plan_.finish, row, plan_.out.width, to, step, next_channel);
      return;
    }
    for (int c = 0; c < plan_.out.channels; ++c)
      finish_channel(row, c, plan_.gains[static_cast<std::size_t>(c)],
                     plan_.biases[static_cast<std::size_t>(c)], plan_.out.width, to + c * next_channel, step);
  }

  PreprocessParams params_;
  PreprocessPlan plan_;
  std::size_t sums_floats_ = 0;
  RowStrips strips_;
};

ParamDeclaration preprocess_params() {
  ParamList<PreprocessParams> list;
  list.numbers("crop", &PreprocessParams::crop, 0, 4, 0, kMaxSide, Unit::Pixels,
               "Part of the image to keep, [x, y, width, height]; empty keeps all of it.");
  list.numbers(
      "size", &PreprocessParams::size, 0, 2, 0, kMaxSide, Unit::Pixels,
      "Size to bring it to, [width, height]; a 0 follows the other side, one number is the width, empty "
      "keeps the size.");
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
               {"hsv", PreprocessColour::Hsv},
               {"hsl", PreprocessColour::Hsl}},
              "Colour model of the output; hue, saturation and value or lightness each fill the whole range "
              "of the type.");
  list.choice(
      "output", &PreprocessParams::output,
      {{"same", PreprocessOutput::Same},
       {"uint8", PreprocessOutput::Uint8},
       {"float32", PreprocessOutput::Float32}},
      "Number type and layout. same: the input's, but float16 becomes float32. Otherwise (v * scale - "
      "mean) / deviation a channel: float32 is planar, uint8 is rounded, and interleaved where it has "
      "1, 3 or 4 channels.");
  list.number("scale", &PreprocessParams::scale, 0, 1e6, Unit::None,
              "Factor of uint8 and float32 output; 0 takes what fills the output type: 1/255 from uint8 to "
              "float32, 255 from floating point to uint8, otherwise 1.");
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
      .inputs = {{"image", PortType::Image, "The frame, or class maps.", From::FrameOrMaps}},
      .outputs = {{"image", PortType::Image, "The converted image, which knows its place on the frame."}},
      .params = preprocess_params(),
      .example = "- type: preprocess\n  size: [640, 0]\n  colour: rgb\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<PreprocessCpu>(params); },
      .make_cuda = on_cuda<make_preprocess_cuda>(),
  };
  return type;
}

}  // namespace contorno
