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
    made_floats_ = made_step_ * plan_.classes.size();
    block_rows_ = std::clamp(kBlockPixels / static_cast<std::size_t>(width_), std::size_t{1}, kMostBlockRows);
    shape_ = ColourTableShape(plan_.classes.size());
    table_floats_ = aligned_floats(shape_.words());
    const std::size_t kept_rows = params_.smooth == 0 ? 0 : taps();
    // The table, what is worked on, the kept rows, the rows that are being made, with margins, and a line.
    strips_ = RowStrips(context, height_,
                        table_floats_ + plan_.classes.size() * kClassifyLanes + made_floats_ * block_rows_ +
                            kept_floats_ * kept_rows + line_floats_);
    tables_ready_ = false;
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    strips_.run(context, [&](int from, int to, float* memory) {
      ClassifyBlock block{.row_step = made_floats_, .step = made_step_};
      block.table = reinterpret_cast<std::uint32_t*>(memory);
      block.work = memory + table_floats_;
      if (!tables_ready_) std::fill_n(block.table, shape_.words(), 0U);
      float* rest = block.work + plan_.classes.size() * kClassifyLanes;
      block.first = rest + kMargin;
      rest += made_floats_ * block_rows_;
      if (params_.smooth == 0)
        run_plain(in, out, from, to, block);
      else
        run_smooth(in, out, from, to, block, rest);
    });
    tables_ready_ = true;
  }

 private:
  /// Floats on either side of a line that is smoothed along x: at least the radius, and aligned.
  static constexpr std::size_t kMargin = kAlignment / sizeof(float);
  static_assert(kMargin >= kMaxSmooth);
  /// Pixels that are classified together, in whole rows: more of them find their colours, and those that are
  /// left fill vectors better.
  static constexpr std::size_t kBlockPixels = 4096, kMostBlockRows = 8;

  std::size_t taps() const { return static_cast<std::size_t>(2 * params_.smooth + 1); }

  /// Classifies the rows from `y` on, as many as a block has, but none from `to` on; returns the row behind
  /// them.
  int classify_block(const ImageView& in, int y, int to, const ClassifyBlock& block) const {
    const int rows = std::min(static_cast<int>(block_rows_), to - y);
    rows_.classify(plan_, shape_,
                   {.first = in.row<const std::uint8_t>(y),
                    .pitch = in.row_pitch,
                    .rows = rows,
                    .width = static_cast<std::size_t>(width_)},
                   block);
    return y + rows;
  }

  void run_plain(const ImageView& in, const ImageView& out, int from, int to,
                 const ClassifyBlock& block) const {
    for (int y = from; y < to;) {
      const float* made = block.first;
      for (const int end = classify_block(in, y, to, block); y < end; ++y, made += made_floats_)
        for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
          const float* line = made + made_step_ * k;
          if (params_.output == MapType::Float32)
            std::copy_n(line, width_, out.row<float>(y, static_cast<int>(k)));
          else
            rows_.to_bytes(line, out.row<std::uint8_t>(y, static_cast<int>(k)), width_);
        }
    }
  }

  void run_smooth(const ImageView& in, const ImageView& out, int from, int to, const ClassifyBlock& block,
                  float* memory) const {
    // A ring of rows that are smoothed along x already; row y lives at y modulo its length.
    const int radius = params_.smooth, ring = 2 * radius + 1;
    const auto kept = [&](int y) { return memory + kept_floats_ * static_cast<std::size_t>(y % ring); };
    float* line = memory + kept_floats_ * taps();
    const int end = std::min(height_, to + radius);
    int next = std::max(0, from - radius), first_made = next, end_made = next;
    for (int y = from; y < to; ++y) {
      for (; next < std::min(end, y + radius + 1); ++next) {
        if (next == end_made) first_made = next, end_made = classify_block(in, next, end, block);
        float* made = block.first + made_floats_ * static_cast<std::size_t>(next - first_made);
        repeat_edges(made);
        if (next < y + radius)
          smooth_along(made, kept(next));
        else
          smooth_both(made, kept, y, out, line);
      }
      if (y + radius >= height_) smooth_down(kept, y, out, line);
    }
  }

  using Lines = std::array<const float*, 2 * kMaxSmooth + 1>;

  /// Writes the edge samples of a row into its margins.
  void repeat_edges(float* made) const {
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      float* line = made + made_step_ * k;
      std::fill_n(line - params_.smooth, params_.smooth, line[0]);
      std::fill_n(line + width_, params_.smooth, line[width_ - 1]);
    }
  }

  /// Binomial weights along x.
  void smooth_along(const float* made, float* out) const {
    Lines lines;
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      for (std::size_t j = 0; j < taps(); ++j) lines[j] = made + made_step_ * k - params_.smooth + j;
      rows_.weigh(lines.data(), plan_.weights.data(), out + line_floats_ * k, width_);
    }
  }

  /// Smooths down y, into the maps.
  template <class Kept>
  void smooth_down(const Kept& kept, int y, const ImageView& out, float* line) const {
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      const Lines lines = lines_around(kept, y, k);
      write_row(out, y, k, line,
                [&](float* row) { rows_.weigh(lines.data(), plan_.weights.data(), row, width_); });
    }
  }

  /// Both at once, where `made` is the lowest of the rows that row `y` of the maps needs.
  template <class Kept>
  void smooth_both(const float* made, const Kept& kept, int y, const ImageView& out, float* line) const {
    for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
      const Lines lines = lines_around(kept, y, k);
      float* along = kept(y + params_.smooth) + line_floats_ * k;
      write_row(out, y, k, line, [&](float* row) {
        rows_.smooth(made + made_step_ * k - params_.smooth, lines.data(), plan_.weights.data(), along, row,
                     width_);
      });
    }
  }

  /// The kept lines of class `k` that row `y` is made of, the uppermost first; edge rows are repeated.
  template <class Kept>
  Lines lines_around(const Kept& kept, int y, std::size_t k) const {
    Lines lines;
    for (int j = 0; j <= 2 * params_.smooth; ++j)
      lines[static_cast<std::size_t>(j)] =
          kept(std::clamp(y + j - params_.smooth, 0, height_ - 1)) + line_floats_ * k;
    return lines;
  }

  /// Has `work` write a row of the map of class `k`: into `line` where the map has bytes, which it then gets.
  template <class Work>
  void write_row(const ImageView& out, int y, std::size_t k, float* line, const Work& work) const {
    const bool floats = params_.output == MapType::Float32;
    work(floats ? out.row<float>(y, static_cast<int>(k)) : line);
    if (!floats) rows_.to_bytes(line, out.row<std::uint8_t>(y, static_cast<int>(k)), width_);
  }

  ClassifyParams params_;
  ClassifyPlan plan_;
  ClassifyRows rows_;
  ColourTableShape shape_;
  int width_ = 0, height_ = 0;
  std::size_t table_floats_ = 0, line_floats_ = 0, kept_floats_ = 0;
  std::size_t made_step_ = 0,
              made_floats_ = 0;  ///< floats from class to class and from row to row in a block
  std::size_t block_rows_ = 1;
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
  static const StageType type{
      .name = "classify",
      .summary = "Makes a map of probabilities for each class from the colours of a frame.",
      .inputs = {{"frame", PortType::Image, "The colour frame.", From::FrameOrMaps}},
      .outputs = {{"maps", PortType::Image, "One map a class, 0..1."}},
      .params = classify_params(),
      .example = "- type: classify\n  softness: 0.05\n  smooth: 2\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<ClassifyCpu>(params); },
      .make_cuda = on_cuda<make_classify_cuda>(),
      .classes = ClassUse::Needed,
  };
  return type;
}

}  // namespace contorno
