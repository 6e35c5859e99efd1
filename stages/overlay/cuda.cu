// Overlay on the device: four launches a frame, one more with labels, and with objects in the legend.
#include <algorithm>

#include "cuda/stream.h"
#include "stages/overlay/kernels.cuh"
#include "stages/overlay/label_kernel.cuh"
#include "stages/overlay/legend_kernel.cuh"
#include "stages/overlay/paint.cuh"
#include "stages/overlay/plan.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace overlay_cuda {
namespace {

// Blocks a multiprocessor of the kernels over points. How many points there are is not known on the host: few
// enough that blocks without any cost little.
constexpr unsigned kPointBlocks = 3;

bool on_words(const void* data, std::ptrdiff_t pitch) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && pitch % 16 == 0;
}

class OverlayCuda final : public Stage {
 public:
  explicit OverlayCuda(const ParamSet& params) : params_(params.as<OverlayParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_overlay_plan(params_, context);
    const auto& contours = std::get<ContoursFormat>(context.input(1));
    context.set_output(0, plan_.format);
    upload_tables();
    plan_job(contours);
    plan_scratch(context, contours);
  }

  void run(const RunContext& context) const override {
    const Job job = job_of(context);
    if (job.filled > 0) fill_async(job.inside, 0, inside_bytes_, context.stream);
    const unsigned over_points = blocks_for(job.contours.format.point_capacity);
    const std::uint64_t rows =
        static_cast<std::uint64_t>(job.filled) * static_cast<unsigned>(job.grid.height);
    const std::uint64_t boxes = job.labels > 0 ? job.contours.format.contour_capacity : 0;
    const unsigned arranged = blocks_for(std::max<std::uint64_t>({tiles_, 32 * rows, 32 * boxes}));
    launch("bin_segments", bin_segments, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           over_points + job.copy_blocks, kThreads, 0, context.stream, job);
    const auto enqueue = [&](const char* name, auto* kernel, unsigned blocks, unsigned threads,
                             std::size_t shared) {
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks, threads, shared,
             context.stream, job);
    };
    enqueue("arrange", arrange, arranged, kThreads, 0);
    enqueue("list_segments", list_segments, over_points, kThreads, 0);
    if (job.legend_form.shown) enqueue("count_objects", count_objects, 1, kThreads, sizeof(LegendShared));
    if (job.labels > 0) enqueue("place_labels", place_labels, 1, kThreads, sizeof(LabelShared));
    // Few tiles are touched by lines alone, and blocks that find none take their time as well.
    const unsigned tiles = static_cast<unsigned>(tiles_),
                   painters = job.all_tiles ? tiles : std::min(tiles, processors_ * kPaintBlocks);
    if (job.channels == 4)
      enqueue("paint_tiles", paint_tiles<4>, painters, kPaintThreads, sizeof(PaintShared));
    else
      enqueue("paint_tiles", paint_tiles<3>, painters, kPaintThreads, sizeof(PaintShared));
  }

  std::uint64_t overflow(const RunContext& context) const override {
    const std::uint64_t needed = context.scratch<Outcome>(outcome_)->references_needed;
    return needed > job_.reference_capacity ? needed : 0;
  }

 private:
  void upload_tables() {
    std::vector<Class> classes;
    for (std::size_t k = 0; k < plan_.pens.size(); ++k)
      classes.push_back({plan_.pens[k], plan_.slots[k], plan_.labels[k], plan_.count_ends[k],
                         plan_.share_ends[k], plan_.wholes[k]});
    std::vector<Picture> pictures;
    std::vector<Colour> pixels;
    for (const Stamp& stamp : plan_.stamps) {
      pictures.push_back({stamp.size(), static_cast<unsigned>(pixels.size())});
      pixels.insert(pixels.end(), stamp.pixels.begin(), stamp.pixels.end());
    }
    classes_ = device_table(classes), pictures_ = device_table(pictures), pixels_ = device_table(pixels);
  }

  void plan_job(const ContoursFormat& contours) {
    processors_ = multiprocessors();
    job_ = Job{};
    job_.grid = plan_.grid, job_.transform = plan_.transform, job_.border = plan_.border;
    job_.classes = contours.classes, job_.channels = plan_.format.channels, job_.filled = plan_.filled;
    job_.class_table = table_at<Class>(classes_);
    job_.pictures = table_at<Picture>(pictures_), job_.pixels = table_at<Colour>(pixels_);
    job_.has_legend = plan_.legend >= 0, job_.legend = plan_.legend_place;
    job_.first_digit = plan_.first_digit;
    job_.legend_form = plan_.legend_form, job_.has_shares = plan_.has_shares();
    const bool labelled = std::any_of(plan_.labels.begin(), plan_.labels.end(), [](int l) { return l >= 0; });
    job_.labels = labelled ? params_.labels : 0;
    job_.label_form = plan_.label_form, job_.label_pieces = plan_.label_pieces;
    job_.has_markers = std::any_of(plan_.pens.begin(), plan_.pens.end(),
                                   [](const OverlayPen& pen) { return pen.marker > 0.0F; });
    tiles_ = static_cast<std::size_t>(plan_.grid.tiles_x) * static_cast<std::size_t>(plan_.grid.tiles_y);
  }

  unsigned blocks_for(std::uint64_t threads) const {
    const std::uint64_t blocks = (threads + kThreads - 1) / kThreads;
    return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, processors_ * kPointBlocks));
  }

  void plan_scratch(PlanContext& context, const ContoursFormat& contours) {
    job_.reference_capacity = context.capacity(2 * contours.point_capacity + 4 * tiles_);
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    const std::size_t bins = tiles_ * static_cast<std::size_t>(contours.classes);
    inside_bytes_ = static_cast<std::size_t>(plan_.filled) * static_cast<std::size_t>(plan_.grid.height) *
                    static_cast<std::size_t>(plan_.grid.tiles_x) * sizeof(unsigned);
    inside_ = take(inside_bytes_);
    listed_ = take(sizeof(unsigned long long));
    touched_count_ = take(sizeof(unsigned));
    touched_ = take(tiles_ * sizeof(unsigned));
    bin_begin_ = take(bins * sizeof(unsigned));
    bin_end_ = take(bins * sizeof(unsigned));
    bin_count_ = context.scratch(bins * sizeof(unsigned), MemoryKind::Device);  // every frame leaves zeros
    references_ = take(job_.reference_capacity * sizeof(unsigned));
    points_ = take(contours.point_capacity * sizeof(FramePoint));
    point_class_ = take(contours.point_capacity * sizeof(unsigned));
    boxes_ = take(job_.labels > 0 ? contours.contour_capacity * sizeof(LabelBox) : 0);
    const std::size_t labels = job_.labels > 0 ? plan_.pens.size() * kMaxLabels : 0;
    placed_ = take(labels * sizeof(PlacedLabel));
    // One more: the label that finds no place.
    pieces_ = take((labels + 1) * static_cast<std::size_t>(plan_.label_pieces) * sizeof(PlacedStamp));
    placed_count_ = take(sizeof(int));
    counted_ = take(plan_.pens.size() * sizeof(unsigned));
    outcome_ = context.scratch(sizeof(Outcome), MemoryKind::Pinned);
    if (!plan_.legend_form.shown) return;
    state_ = context.state(sizeof(LegendState));
    legend_pieces_ = take(LegendForm::pieces(plan_.pens.size()) * sizeof(PlacedStamp));
    legend_piece_count_ = take(sizeof(int));
    legend_work_.plan(contours.contour_capacity, take);
  }

  Job job_of(const RunContext& context) const {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    Job job = job_;
    job.in = static_cast<const unsigned char*>(in.data), job.in_pitch = in.row_pitch;
    job.out = static_cast<unsigned char*>(out.data), job.out_pitch = out.row_pitch;
    job.words = on_words(in.data, in.row_pitch) && on_words(out.data, out.row_pitch);
    job.contours = std::get<ContoursView>(context.inputs[1]);
    job.listed = context.scratch<unsigned long long>(listed_);
    job.touched_count = context.scratch<unsigned>(touched_count_);
    job.touched = context.scratch<unsigned>(touched_);
    // The plan's images lie alike, gaps included; others are copied tile by tile.
    job.all_tiles = job.filled > 0 || job.labels > 0 || !job.words || in.row_pitch != out.row_pitch ||
                    packed_view(out.data, plan_.format).row_pitch != out.row_pitch;
    if (!job.all_tiles) {
      job.frame_words =
          static_cast<unsigned long long>(in.row_pitch) * static_cast<unsigned>(plan_.format.height) / 16;
      job.copy_blocks = blocks_for((job.frame_words + kCopiedWords - 1) / kCopiedWords);
    }
    job.bin_count = context.scratch<unsigned>(bin_count_);
    job.inside = context.scratch<unsigned>(inside_);
    job.bin_begin = context.scratch<unsigned>(bin_begin_);
    job.bin_end = context.scratch<unsigned>(bin_end_);
    job.references = context.scratch<unsigned>(references_);
    job.points = context.scratch<FramePoint>(points_);
    job.point_class = context.scratch<unsigned>(point_class_);
    job.boxes = context.scratch<LabelBox>(boxes_);
    job.placed = context.scratch<PlacedLabel>(placed_);
    job.pieces = context.scratch<PlacedStamp>(pieces_);
    job.placed_count = context.scratch<int>(placed_count_);
    if (job.first_digit >= 0) job.counted = context.scratch<unsigned>(counted_);
    job.outcome = context.scratch<Outcome>(outcome_);
    if (!job.legend_form.shown) return job;
    job.state_before = context.state_before<LegendState>(state_);
    job.state_after = context.state_after<LegendState>(state_);
    job.legend_pieces = context.scratch<PlacedStamp>(legend_pieces_);
    job.legend_piece_count = context.scratch<int>(legend_piece_count_);
    job.legend_work = legend_work_.of(context);
    return job;
  }

  OverlayParams params_;
  OverlayPlan plan_;
  Block classes_, pictures_, pixels_;
  Job job_;  ///< what does not change from frame to frame
  std::size_t tiles_ = 0, inside_bytes_ = 0;
  unsigned processors_ = 0;  ///< multiprocessors of the device
  Scratch bin_count_;        ///< begins as zeros, and is left so by every frame
  Scratch inside_, listed_, touched_count_, touched_, bin_begin_, bin_end_, references_, points_,
      point_class_, boxes_, placed_, pieces_, placed_count_, counted_, outcome_, legend_pieces_,
      legend_piece_count_;
  LegendScratch legend_work_;
  State state_;
};

}  // namespace
}  // namespace overlay_cuda

std::unique_ptr<Stage> make_overlay_cuda(const ParamSet& params) {
  return std::make_unique<overlay_cuda::OverlayCuda>(params);
}

}  // namespace contorno
