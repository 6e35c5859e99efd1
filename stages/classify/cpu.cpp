#include "stages/classify/stage.h"

#include <algorithm>
#include <array>

#include "stages/classify/rows.h"
#include "stages/shared/row_strips.h"

namespace contorno {
namespace {

class ClassifyCpu final : public Stage {
 public:
  explicit ClassifyCpu(const ParamSet& params) : params_(params.as<ClassifyParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_classify_plan(params_, context);
    context.set_output(0, plan_.out);
    rows_ = classify_rows(params_.smooth, best_simd());

    width_ = plan_.in.width, height_ = plan_.in.height;
    line_floats_ = aligned_floats(static_cast<std::size_t>(width_));
    kept_floats_ = line_floats_ * plan_.classes.size();
    made_step_ = line_floats_ + 2 * kMargin;
    shape_ = ColourTableShape(plan_.classes.size());
    table_floats_ = aligned_floats(shape_.words());
    const std::size_t kept_rows = params_.smooth == 0 ? 0 : taps();
    // The table, what is worked on, the kept rows, the row that is being made, with margins, and a line.
    strips_ = RowStrips(context, height_,
                        table_floats_ + plan_.classes.size() * (kClassifyLanes + made_step_) +
                            kept_floats_ * kept_rows + line_floats_);
    tables_ready_ = false;
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    strips_.run(context, [&](int from, int to, float* memory) {
      ClassifyRow row;
      row.table = reinterpret_cast<std::uint32_t*>(memory);
      row.work = memory + table_floats_;
      if (!tables_ready_) std::fill_n(row.table, shape_.words(), 0U);
      float* rest = row.work + plan_.classes.size() * kClassifyLanes;
      if (params_.smooth == 0)
        run_plain(in, out, from, to, row, rest);
      else
        run_smooth(in, out, from, to, row, rest);
    });
    tables_ready_ = true;
  }

 private:
  /// Floats on either side of a line that is smoothed along x: at least the radius, and aligned.
  static constexpr std::size_t kMargin = kAlignment / sizeof(float);
  static_assert(kMargin >= kMaxSmooth);

  std::size_t taps() const { return static_cast<std::size_t>(2 * params_.smooth + 1); }

  void classify_row(const ImageView& in, int y, ClassifyRow row, float* first) const {
    row.first = first, row.step = static_cast<std::ptrdiff_t>(made_step_);
    rows_.classify(plan_, shape_, in.row<const std::uint8_t>(y), width_, row);
  }

  void run_plain(const ImageView& in, const ImageView& out, int from, int to, const ClassifyRow& row,
                 float* made) const {
    for (int y = from; y < to; ++y) {
      classify_row(in, y, row, made);
      for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
        const float* line = made + made_step_ * k;
        if (params_.output == MapType::Float32)
          std::copy_n(line, width_, out.row<float>(y, static_cast<int>(k)));
        else
          rows_.to_bytes(line, out.row<std::uint8_t>(y, static_cast<int>(k)), width_);
      }
    }
  }

  void run_smooth(const ImageView& in, const ImageView& out, int from, int to, const ClassifyRow& row,
                  float* memory) const {
    // A ring of rows that are smoothed along x already; row y lives at y modulo its length.
    const int radius = params_.smooth, ring = 2 * radius + 1;
    const auto kept = [&](int y) { return memory + kept_floats_ * static_cast<std::size_t>(y % ring); };
    float* made = memory + kept_floats_ * taps();
    float* line = made + made_step_ * plan_.classes.size();
    int next = std::max(0, from - radius);
    for (int y = from; y < to; ++y) {
      for (; next <= std::min(height_ - 1, y + radius); ++next) {
        classify_row(in, next, row, made + kMargin);
        smooth_along(made + kMargin, kept(next));
      }
      smooth_down(kept, y, out, line);
    }
  }

  /// Binomial weights along x, the edge sample repeated in the margins of `made`.
  void smooth_along(float* made, float* out) const {
    const int radius = params_.smooth;
    std::array<const float*, 2 * kMaxSmooth + 1> lines;
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      float* line = made + made_step_ * k;
      std::fill_n(line - radius, radius, line[0]);
      std::fill_n(line + width_, radius, line[width_ - 1]);
      for (std::size_t j = 0; j < taps(); ++j) lines[j] = line - radius + j;
      rows_.weigh(lines.data(), plan_.weights.data(), out + line_floats_ * k, width_);
    }
  }

  /// The same down y, into the map; `line` has room for a row before it becomes bytes.
  template <class Kept>
  void smooth_down(const Kept& kept, int y, const ImageView& out, float* line) const {
    std::array<const float*, 2 * kMaxSmooth + 1> lines;
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      for (int j = -params_.smooth; j <= params_.smooth; ++j)
        lines[static_cast<std::size_t>(j + params_.smooth)] =
            kept(std::clamp(y + j, 0, height_ - 1)) + line_floats_ * k;
      if (params_.output == MapType::Float32) {
        rows_.weigh(lines.data(), plan_.weights.data(), out.row<float>(y, static_cast<int>(k)), width_);
      } else {
        rows_.weigh(lines.data(), plan_.weights.data(), line, width_);
        rows_.to_bytes(line, out.row<std::uint8_t>(y, static_cast<int>(k)), width_);
      }
    }
  }

  ClassifyParams params_;
  ClassifyPlan plan_;
  ClassifyRows rows_;
  ColourTableShape shape_;
  int width_ = 0, height_ = 0;
  std::size_t table_floats_ = 0, line_floats_ = 0, kept_floats_ = 0;
  std::size_t made_step_ = 0;  ///< floats from class to class in the row that is being made
  RowStrips strips_;
  mutable bool tables_ready_ = false;  ///< the tables of all strips are zeros or filled
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
