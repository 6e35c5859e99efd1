#include "stages/classify/stage.h"

#include <algorithm>

#include "stages/classify/plan.h"
#include "stages/shared/row_strips.h"

namespace contorno {
namespace {

/// Pixels that are worked on at a time: their colours stay in the first-level cache.
constexpr int kChunk = 128;

class ClassifyCpu final : public Stage {
 public:
  explicit ClassifyCpu(const ParamSet& params) : params_(params.as<ClassifyParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_classify_plan(params_, context);
    context.set_output(0, plan_.out);
    pixel_ = plan_.pixel;
    pixel_.decode = plan_.decode.data();
    pixel_.references = plan_.references.data(), pixel_.ranges = plan_.ranges.data();

    width_ = plan_.in.width, height_ = plan_.in.height;
    line_floats_ = aligned_floats(static_cast<std::size_t>(width_));
    row_floats_ = line_floats_ * plan_.classes.size();
    // The kept rows, the row that is being made, and a line with margins.
    strips_ = RowStrips(context, height_, row_floats_ * (kept_rows() + 1) + line_floats_ + 2 * kMaxSmooth);
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    strips_.run(context, [&](int from, int to, float* memory) { run_strip(in, out, from, to, memory); });
  }

 private:
  std::size_t kept_rows() const { return static_cast<std::size_t>(2 * params_.smooth + 1); }

  void run_strip(const ImageView& in, const ImageView& out, int from, int to, float* memory) const {
    float* row = memory + row_floats_ * kept_rows();
    if (params_.smooth == 0) {
      for (int y = from; y < to; ++y) {
        classify_row(in, y, row);
        store_row(row, out, y);
      }
      return;
    }
    // A ring of rows that are smoothed along x already; row y lives at y modulo its length.
    const int radius = params_.smooth, ring = 2 * radius + 1;
    const auto kept = [&](int y) { return memory + row_floats_ * static_cast<std::size_t>(y % ring); };
    int next = std::max(0, from - radius);
    for (int y = from; y < to; ++y) {
      for (; next <= std::min(height_ - 1, y + radius); ++next) {
        classify_row(in, next, row);
        smooth_along(row, kept(next), row + row_floats_);
      }
      smooth_down(kept, y, row);
      store_row(row, out, y);
    }
  }

  /// Probabilities of one row of the frame, class after class, `line_floats_` apart.
  void classify_row(const ImageView& in, int y, float* row) const {
    const auto* line = in.row<const std::uint8_t>(y);
    for (int x = 0; x < width_; x += kChunk) {
      const int count = std::min(kChunk, width_ - x);
      classify_chunk(line + static_cast<std::ptrdiff_t>(x) * in.format.channels, in.format.channels, count,
                     row + x);
    }
  }

  struct Planes {
    alignas(64) float x[kChunk], y[kChunk],
        z[kChunk];  // plain: checked access would keep them out of vectors
  };

  void classify_chunk(const std::uint8_t* line, int channels, int count, float* row) const {
    Planes place, hsv;
    alignas(64) float total[kChunk], nearest[kChunk];
    place_chunk(line, channels, count, place);
    if (!plan_.ranges.empty()) hsv_chunk(line, channels, count, hsv);
    std::fill_n(total, kChunk, plan_.rest_class >= 0 ? 0.0F : pixel_.rest_weight);
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      float* weight = row + line_floats_ * k;
      if (static_cast<int>(k) == plan_.rest_class) {
        std::fill_n(weight, count, pixel_.rest_weight);
      } else {
        std::fill_n(nearest, kChunk, 1e9F);
        nearest_reference(plan_.classes[k], place, nearest);
        nearest_range(plan_.classes[k], hsv, nearest);
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
          weight[i] = pixel_.weight(nearest[i]);
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) total[i] = total[i] + weight[i];
    }
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      float* weight = row + line_floats_ * k;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) weight[i] = weight[i] / total[i];
    }
  }

  void place_chunk(const std::uint8_t* line, int channels, int count, Planes& place) const {
    const std::ptrdiff_t green = channels > 1 ? 1 : 0, blue = channels > 1 ? 2 : 0;
    if (pixel_.space == ColourSpace::Oklab) {
      // The table first, then arithmetic over whole vectors.
      Planes linear;
      for (int i = 0; i < kChunk; ++i) {
        const std::uint8_t* at = line + static_cast<std::ptrdiff_t>(std::min(i, count - 1)) * channels;
        const auto n = static_cast<std::size_t>(i);
        linear.x[n] = plan_.decode[at[0]], linear.y[n] = plan_.decode[at[green]],
        linear.z[n] = plan_.decode[at[blue]];
      }
      const float lightness = pixel_.lightness;
      for (std::size_t i = 0; i < kChunk; ++i) {
        const Triple lab = oklab_of(linear.x[i], linear.y[i], linear.z[i]);
        place.x[i] = lab.x * lightness, place.y[i] = lab.y, place.z[i] = lab.z;
      }
      return;
    }
    for (int i = 0; i < kChunk; ++i) {
      const std::uint8_t* at = line + static_cast<std::ptrdiff_t>(std::min(i, count - 1)) * channels;
      const Triple rgb = pixel_.place(at[0], at[green], at[blue]);
      const auto n = static_cast<std::size_t>(i);
      place.x[n] = rgb.x, place.y[n] = rgb.y, place.z[n] = rgb.z;
    }
  }

  void hsv_chunk(const std::uint8_t* line, int channels, int count, Planes& hsv) const {
    const std::ptrdiff_t green = channels > 1 ? 1 : 0, blue = channels > 1 ? 2 : 0;
    for (int i = 0; i < kChunk; ++i) {
      const std::uint8_t* at = line + static_cast<std::ptrdiff_t>(std::min(i, count - 1)) * channels;
      const Triple triple = ClassifyPixel::hsv(at[0], at[green], at[blue]);
      const auto n = static_cast<std::size_t>(i);
      hsv.x[n] = triple.x, hsv.y[n] = triple.y, hsv.z[n] = triple.z;
    }
  }

  void nearest_reference(const ClassifyClass& entry, const Planes& place, float* nearest) const {
    for (int r = entry.first_reference; r < entry.last_reference; ++r) {
      const Triple reference = plan_.references[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < kChunk; ++i) {
        const float d = ClassifyPixel::squared_distance({place.x[i], place.y[i], place.z[i]}, reference);
        nearest[i] = d < nearest[i] ? d : nearest[i];
      }
    }
  }

  void nearest_range(const ClassifyClass& entry, const Planes& hsv, float* nearest) const {
    for (int r = entry.first_range; r < entry.last_range; ++r) {
      const ClassifyRange range = plan_.ranges[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < kChunk; ++i) {
        const float d = ClassifyPixel::squared_distance({hsv.x[i], hsv.y[i], hsv.z[i]}, range);
        nearest[i] = d < nearest[i] ? d : nearest[i];
      }
    }
  }

  /// Binomial weights along x, the edge sample repeated. `padded` has room for a row with both margins.
  void smooth_along(const float* row, float* out, float* padded) const {
    const int radius = params_.smooth;
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      const float* line = row + line_floats_ * k;
      std::fill_n(padded, radius, line[0]);
      std::copy_n(line, width_, padded + radius);
      std::fill_n(padded + radius + width_, radius, line[width_ - 1]);
      float* to = out + line_floats_ * k;
      for (int x = 0; x < width_; ++x) to[x] = plan_.weights[0] * padded[x];
      for (int j = 1; j <= 2 * radius; ++j) {
        const float weight = plan_.weights[static_cast<std::size_t>(j)];
        for (int x = 0; x < width_; ++x) to[x] = to[x] + weight * padded[x + j];
      }
    }
  }

  template <class Kept>
  void smooth_down(const Kept& kept, int y, float* out) const {
    const int radius = params_.smooth;
    const auto source = [&](int j) { return kept(std::clamp(y + j - radius, 0, height_ - 1)); };
    const float* top = source(0);
    const float first = plan_.weights[0];
    for (std::size_t i = 0; i < row_floats_; ++i) out[i] = first * top[i];
    for (int j = 1; j <= 2 * radius; ++j) {
      const float* next = source(j);
      const float weight = plan_.weights[static_cast<std::size_t>(j)];
      for (std::size_t i = 0; i < row_floats_; ++i) out[i] = out[i] + weight * next[i];
    }
  }

  void store_row(const float* row, const ImageView& out, int y) const {
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      const float* line = row + line_floats_ * k;
      if (params_.output == MapType::Float32) {
        std::copy_n(line, width_, out.row<float>(y, static_cast<int>(k)));
      } else {
        auto* to = out.row<std::uint8_t>(y, static_cast<int>(k));
        for (int x = 0; x < width_; ++x) to[x] = to_probability_byte(line[x]);
      }
    }
  }

  ClassifyParams params_;
  ClassifyPlan plan_;
  ClassifyPixel pixel_;
  int width_ = 0, height_ = 0;
  std::size_t line_floats_ = 0, row_floats_ = 0;
  RowStrips strips_;
};

ParamDeclaration classify_params() {
  ParamList<ClassifyParams> list;
  list.choice("space", &ClassifyParams::space, {{"oklab", ColourSpace::Oklab}, {"rgb", ColourSpace::Rgb}},
              "Where distances to reference colours are measured; oklab follows the eye.");
  list.number("softness", &ClassifyParams::softness, 0.001, 1, Unit::Fraction,
              "Distance at which a class's weight has fallen to a quarter; black to white is 1.");
  list.number("rest", &ClassifyParams::rest, 0, 1, Unit::Fraction,
              "Distance of every colour to the class without references, or to none of the classes; 0 = each "
              "pixel belongs to some class.");
  list.number("lightness", &ClassifyParams::lightness, 0, 1, Unit::Fraction,
              "How much lightness counts beside hue and chroma in oklab; less forgives shadows.");
  list.integer("smooth", &ClassifyParams::smooth, 0, kMaxSmooth, Unit::Pixels,
               "Radius of the binomial smoothing of the maps, so that contours are calm; 0 = none.");
  list.choice("output", &ClassifyParams::output, {{"float32", MapType::Float32}, {"uint8", MapType::Uint8}},
              "Number type of the maps; uint8 stands for v / 255.");
  return declare(std::move(list));
}

}  // namespace

const StageType& classify_stage() {
  static const StageType type {
    .name = "classify", .summary = "Makes a map of probabilities for each class from the colours of a frame.",
    .inputs = {{"frame", PortType::Image, "The colour frame.", From::FrameOrMaps}},
    .outputs = {{"maps", PortType::Image, "One map a class, 0..1."}}, .params = classify_params(),
    .example = "- type: classify\n  softness: 0.05\n  smooth: 2\n",
    .make_cpu = [](const ParamSet& params) { return std::make_unique<ClassifyCpu>(params); },
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_classify_cuda,
#endif
    .classes = ClassUse::Needed,
  };
  return type;
}

}  // namespace contorno
