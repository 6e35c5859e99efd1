#include "stages/overlay/stage.h"

#include <algorithm>
#include <cstring>

#include "pipeline/shared/loops.h"
#include "stages/overlay/label_text.h"
#include "stages/overlay/painter.h"

namespace contorno {
namespace {

constexpr int kPointsAtATime = 4096;

/// Kept in scratch for `overflow`.
struct Outcome {
  std::uint64_t references_needed = 0;
};

class OverlayCpu final : public Stage {
 public:
  explicit OverlayCpu(const ParamSet& params) : params_(params.as<OverlayParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_overlay_plan(params_, context);
    const auto& contours = std::get<ContoursFormat>(context.input(1));
    const OverlayGrid& grid = plan_.grid;
    context.set_output(0, plan_.format);
    const std::size_t tiles = static_cast<std::size_t>(grid.tiles_x) * static_cast<std::size_t>(grid.tiles_y);
    reference_capacity_ = context.capacity(2 * contours.point_capacity + 4 * tiles);
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Host); };
    points_ = take(contours.point_capacity * sizeof(FramePoint));
    tile_begin_ = take((tiles + 1) * sizeof(std::uint32_t));
    tile_fill_ = take(tiles * sizeof(std::uint32_t));
    references_ = take(reference_capacity_ * sizeof(std::uint32_t));
    inside_ = take(static_cast<std::size_t>(plan_.filled) * static_cast<std::size_t>(grid.height) *
                   static_cast<std::size_t>(grid.tiles_x) * sizeof(std::uint32_t));
    const std::size_t labels = plan_.pens.size() * kMaxLabels;
    labels_ = take(labels * sizeof(PlacedLabel));
    // One more: the label that finds no place.
    label_pieces_ = take((labels + 1) * static_cast<std::size_t>(plan_.label_pieces) * sizeof(PlacedStamp));
    counted_ = take(plan_.pens.size() * sizeof(std::uint32_t));
    outcome_ = context.scratch(sizeof(Outcome), MemoryKind::Host);
    if (plan_.legend_form.shown) {
      state_ = context.state(sizeof(LegendState));
      legend_pieces_ = take(LegendForm::pieces(plan_.pens.size()) * sizeof(PlacedStamp));
      legend_work_.plan(contours.contour_capacity, take);
    }
    bands_ = std::max(1, std::min(context.threads(), grid.tiles_y));
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    const auto& contours = std::get<ContoursView>(context.inputs[1]);
    const OverlayPainter painter(plan_);
    OverlayWork work = work_of(context, contours);
    const bool drawable = prepare(context, painter, work);
    for_tasks(context.threads, plan_.grid.tiles_y, [&](int tile_row) {
      const Span rows = plan_.grid.rows_of(tile_row);
      for (int y = rows.low; y <= rows.high; ++y)
        std::memcpy(out.row<char>(y), in.row<const char>(y), plan_.format.row_bytes());
      if (drawable) painter.paint_tile_row(work, out, tile_row);
    });
  }

  std::uint64_t overflow(const RunContext& context) const override {
    const std::uint64_t needed = context.scratch<Outcome>(outcome_)->references_needed;
    return needed > reference_capacity_ ? needed : 0;
  }

 private:
  OverlayWork work_of(const RunContext& context, const ContoursView& contours) const {
    OverlayWork work{};
    work.contours = &contours;
    work.points = context.scratch<FramePoint>(points_);
    work.tile_begin = context.scratch<std::uint32_t>(tile_begin_);
    work.tile_fill = context.scratch<std::uint32_t>(tile_fill_);
    work.references = context.scratch<std::uint32_t>(references_);
    work.inside = context.scratch<std::uint32_t>(inside_);
    work.labels = context.scratch<PlacedLabel>(labels_);
    work.counted = context.scratch<std::uint32_t>(counted_);
    work.label_pieces = context.scratch<PlacedStamp>(label_pieces_);
    if (!plan_.legend_form.shown) return work;
    work.state_before = context.state_before<LegendState>(state_);
    work.state_after = context.state_after<LegendState>(state_);
    work.legend_pieces = context.scratch<PlacedStamp>(legend_pieces_);
    work.legend = legend_work_.of(context);
    return work;
  }

  /// Everything before the first pixel; false when a capacity is too small and the frame will be run again.
  bool prepare(const RunContext& context, const OverlayPainter& painter, OverlayWork& work) const {
    const ContoursView& contours = *work.contours;
    const OverlayGrid& grid = plan_.grid;
    Outcome& outcome = *context.scratch<Outcome>(outcome_);
    outcome.references_needed = 0;
    if (!contours.fits()) return false;
    if (plan_.legend_form.shown) work.legend_piece_count = painter.count_objects(work);
    const auto points = static_cast<int>(contours.counts->points);
    for_rows(context.threads, (points + kPointsAtATime - 1) / kPointsAtATime, [&](int chunk) {
      const int end = std::min(points, (chunk + 1) * kPointsAtATime);
      for (int i = chunk * kPointsAtATime; i < end; ++i) work.points[i] = plan_.transform(contours.points[i]);
    });
    const auto in_bands = [&](const auto& f) {
      for_rows(context.threads, bands_,
               [&](int band) { f(grid.tiles_y * band / bands_, grid.tiles_y * (band + 1) / bands_); });
    };
    in_bands([&](int from, int to) { painter.count_references(work, from, to); });
    const int tiles = grid.tiles_x * grid.tiles_y;
    std::uint64_t sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const std::uint32_t count = work.tile_fill[tile];
      work.tile_begin[tile] = work.tile_fill[tile] = static_cast<std::uint32_t>(sum);
      sum += count;
    }
    work.tile_begin[tiles] = static_cast<std::uint32_t>(sum);
    outcome.references_needed = sum;
    if (sum > reference_capacity_) return false;
    in_bands([&](int from, int to) {
      painter.fill_references(work, from, to);
      painter.find_insides(work, from, to);
    });
    if (plan_.first_digit >= 0) painter.count_contours(work);
    work.label_count = painter.place_labels(work, params_.labels);
    return true;
  }

  OverlayParams params_;
  OverlayPlan plan_;
  std::uint64_t reference_capacity_ = 0;
  int bands_ = 1;
  Scratch points_, tile_begin_, tile_fill_, references_, inside_, labels_, label_pieces_, counted_, outcome_,
      legend_pieces_;
  LegendScratch legend_work_;
  State state_;
};

ParamDeclaration overlay_params() {
  ParamList<OverlayParams> list;
  list.number("line_width", &OverlayParams::line_width, 0, 64, Unit::Pixels,
              "Width of the lines of classes that name none; 0 = by the size of the frame.");
  list.number("halo", &OverlayParams::halo, 0, 32, Unit::Pixels,
              "Width of the outline on either side of a line, which keeps it visible on any background.");
  list.colour("halo_colour", &OverlayParams::halo_colour, "Colour and opacity of the outline.");
  list.number("fill", &OverlayParams::fill, 0, 1, Unit::Fraction,
              "Opacity of the inside of contours of classes that name none; 0 = not filled.");
  list.number("markers", &OverlayParams::markers, 0, 32, Unit::Pixels,
              "Radius of a dot at every contour point; 0 = none.");
  list.integer("labels", &OverlayParams::labels, 0, kMaxLabels, Unit::None,
               "How many of a class's largest contours carry a label.");
  list.text("label", &OverlayParams::label,
            "What labels say: {class}, and attributes of the contour as {area} or {area:.1f}.");
  list.choice("legend", &OverlayParams::legend,
              {{"none", LegendCorner::None},
               {"top_left", LegendCorner::TopLeft},
               {"top_right", LegendCorner::TopRight},
               {"bottom_left", LegendCorner::BottomLeft},
               {"bottom_right", LegendCorner::BottomRight}},
              "Corner of the box with the colours and names of the classes.");
  list.flag(
      "counts", &OverlayParams::counts,
      "Whether the legend shows the number of contours of each class; of objects where they are followed.");
  list.text(
      "objects", &OverlayParams::objects,
      "What the legend calls objects (see objects), in a row with how many of them are in view and were so "
      "far; empty: it has no such row.");
  list.flag("shares", &OverlayParams::shares,
            "Whether the legend shows of each class its largest share of an object in view that the border "
            "does not cut.");
  list.integer("text_height", &OverlayParams::text_height, 0, 256, Unit::Pixels,
               "Height of a line of text; 0 = by the size of the frame.");
  return declare(std::move(list), [](const OverlayParams& params, const ParamTrial& trial) {
    trial.run("label", [&] { parse_label(params.label); });
  });
}

}  // namespace

const StageType& overlay_stage() {
  static const StageType type{
      .name = "overlay",
      .summary = "Draws contours, labels and a legend on a copy of the frame.",
      .inputs = {{"frame", PortType::Image, "What is drawn on.", From::Frame},
                 {"contours", PortType::Contours, "What is drawn."}},
      .outputs = {{"image", PortType::Image, "The frame with the drawing."}},
      .params = overlay_params(),
      .example = "- type: overlay\n  line_width: 2\n  fill: 0.25\n  legend: top_left\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<OverlayCpu>(params); },
      .make_cuda = on_cuda<make_overlay_cuda>(),
      .classes = ClassUse::Needed,
  };
  return type;
}

}  // namespace contorno
