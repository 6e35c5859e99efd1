// The mipmap stage: its declaration and its CPU implementation.
#include "stages/mipmap/stage.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "pipeline/shared/loops.h"

namespace contorno {

MipmapTargets::MipmapTargets(const MipmapParams& params, PlanContext& context, MemoryKind memory)
    : chain_(context.image(0), params), level_(params.level) {
  if (level_ >= chain_.levels())
    throw Error(ExitCode::BadConfig,
                fmt::format("mipmap: level is {}, the chain of {} has the levels 0 to {} with stop: {}",
                            level_, describe(chain_.format(0)), chain_.levels() - 1, params.stop));
  if (!atlas()) {
    context.set_output(0, chain_.format(level_));
    // Levels before the last one; the last one's place stays unused.
    between_ = context.temporary(level_ > 1 ? chain_.offset(level_) : 0, memory);
    return;
  }
  const ImageFormat& image = chain_.format(0);
  const ImageFormat format = atlas_format(image, {.width = image.width,
                                                  .height = image.height,
                                                  .levels = chain_.levels(),
                                                  .divisor = params.width,
                                                  .sizes = params.sizes});
  boxes_ = level_boxes(format.atlas);
  free_ = free_boxes(boxes_, format.width, format.height);
  context.set_output(0, format);
}

std::optional<ImageView> MipmapTargets::image_copy(const RunContext& context) const {
  if (atlas()) return level_view(context.image_out(0), boxes_[0]);
  if (level_ == 0) return context.image_out(0);
  return {};
}

void MipmapTargets::views(const RunContext& context, ImageView* levels) const {
  for (int level = 1; level <= filled(); ++level) {
    ImageView& view = levels[level - 1];
    if (atlas())
      view = level_view(context.image_out(0), boxes_[static_cast<std::size_t>(level)]);
    else if (level == level_)
      view = context.image_out(0);
    else
      view = chain_.level_in(context.scratch<std::byte>(between_), level);
  }
}

ByteBox bytes_of_box(const ImageView& image, const LevelBox& box) {
  const ImageFormat& format = image.format;
  const std::size_t pixel = format.row_bytes() / static_cast<std::size_t>(format.width);
  return {.offset =
              box.y * image.row_pitch + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(box.x) * pixel),
          .row_bytes = static_cast<std::size_t>(box.width) * pixel,
          .rows = box.height};
}

namespace {

class MipmapCpu final : public Stage {
 public:
  explicit MipmapCpu(const ParamSet& params) : params_(params.as<MipmapParams>()) {}

  void plan(PlanContext& context) override {
    targets_.emplace(params_, context, MemoryKind::Host);
    threads_ = context.threads();
    work_ = context.temporary(targets_->chain().scratch_bytes(threads_), MemoryKind::Host);
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    if (const auto copy = targets_->image_copy(context)) copy_image(in, *copy, context.threads);
    for (const LevelBox& box : targets_->free()) clear(context.image_out(0), box);
    std::array<ImageView, kMaxLevels> levels;
    targets_->views(context, levels.data());
    targets_->chain().build(in, {levels.data(), static_cast<std::size_t>(targets_->filled())},
                            context.scratch<void>(work_), threads_, best_simd());
  }

 private:
  static void copy_image(const ImageView& in, const ImageView& out, int threads) {
    const int height = in.format.height;
    for_rows(threads, height * in.format.planes(), [&](int row) {
      std::memcpy(out.row<char>(row % height, row / height), in.row<char>(row % height, row / height),
                  in.format.row_bytes());
    });
  }
  static void clear(const ImageView& image, const LevelBox& box) {
    const ByteBox bytes = bytes_of_box(image, box);
    for (int plane = 0; plane < image.format.planes(); ++plane)
      for (int y = 0; y < bytes.rows; ++y)
        std::memset(image.row<char>(y, plane) + bytes.offset, 0, bytes.row_bytes);
  }

  MipmapParams params_;
  std::optional<MipmapTargets> targets_;
  int threads_ = 1;
  Scratch work_;
};

ParamDeclaration mipmap_params() {
  using P = MipmapParams;
  ParamList<P> list;
  list.choice(
      "filter", static_cast<MipmapFilter P::*>(&P::filter),
      {{"box", MipmapFilter::Box},
       {"clamp", MipmapFilter::Clamp},
       {"triangle", MipmapFilter::Triangle},
       {"kaiser", MipmapFilter::Kaiser},
       {"lanczos3", MipmapFilter::Lanczos3},
       {"mitchell", MipmapFilter::Mitchell}},
      "How pixels are weighted: box by exact areas, clamp all of width x width alike, the others reach "
      "further and keep more detail.");
  list.integer("width", static_cast<int P::*>(&P::width), 2, kMostMipmapWidth, Unit::Pixels,
               "Side of the square that filter: clamp averages; each level is that many times smaller.");
  list.choice("sizes", static_cast<LevelSizes P::*>(&P::sizes),
              {{"floor", LevelSizes::Floor}, {"ceil", LevelSizes::Ceil}, {"round", LevelSizes::Round}},
              "How a side that does not divide is rounded; when halving, round is the same as ceil.");
  list.integer("stop", static_cast<int P::*>(&P::stop), 1, kMaxSide, Unit::Pixels,
               "The next level is made while the smaller side is above this; 1 goes on to a single pixel.");
  list.integer("level", &P::level, -1, kMaxLevels - 1, Unit::None,
               "Level to give, 0 is the image itself; -1 gives all of them side by side in one image.");
  list.choice("edge", static_cast<MipmapEdge P::*>(&P::edge),
              {{"clamp", MipmapEdge::Clamp}, {"wrap", MipmapEdge::Wrap}, {"mirror", MipmapEdge::Mirror}},
              "What filters see outside of the image; wrap is for textures that tile.");
  list.flag("linear_light", static_cast<bool P::*>(&P::linear_light),
            "Samples are sRGB and are averaged as light; the last of 2 or 4 channels is alpha and is not.");
  list.flag("premultiplied", static_cast<bool P::*>(&P::premultiplied),
            "Colours are weighted by alpha, so that those of transparent pixels do not show.");
  list.flag("high_precision", static_cast<bool P::*>(&P::high_precision),
            "Each level is made from the unrounded one before, so that rounding does not add up.");
  return declare(std::move(list));
}

}  // namespace

const StageType& mipmap_stage() {
  static const StageType type{
      .name = "mipmap",
      .summary = "Makes ever smaller copies of an image, each from the one before.",
      .inputs = {{"image", PortType::Image, "The frame, or class maps.", From::FrameOrMaps}},
      .outputs = {{"image", PortType::Image,
                   "One level, which knows its place on the frame, or all of them."}},
      .params = mipmap_params(),
      .example = "- type: mipmap\n  level: 0\n  filter: box\n  linear_light: true\n",
      .make_cpu = [](const ParamSet& params) { return std::make_unique<MipmapCpu>(params); },
      .make_cuda = on_cuda<make_mipmap_cuda>(),
  };
  return type;
}

}  // namespace contorno
