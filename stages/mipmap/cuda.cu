// Mipmap on the device: one pass for the levels that halve, one launch for each larger level that does not,
// and one block for all small ones.
#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "cuda/stream.h"
#include "pipeline/graph/banded_upload.h"
#include "stages/mipmap/cuda.h"
#include "stages/mipmap/kernels.cuh"
#include "stages/mipmap/plan.h"
#include "stages/mipmap/stage.h"
#include "stages/shared/device_table.h"

namespace contorno {

using namespace mipmap_cuda;

namespace {

/// A level of at most so many px is made by the one block that makes all after it.
constexpr int kSmallLevel = 64 * 64;
static_assert(kMipmapBandRows == 1 << kTileLevels);

/// Rows `begin` and on of a view.
ImageView rows_of(ImageView view, int begin, int end) {
  view.data = view.row<char>(begin);
  view.format.height = end - begin;
  return view;
}

struct AxisOnDevice {
  Block count, index, weights, whole;
  int stride = 0;
  std::uint32_t total = 1;

  explicit AxisOnDevice(const MipmapAxis& axis)
      : count(device_table(axis.count)),
        index(device_table(axis.index)),
        weights(device_table(axis.weights)),
        whole(device_table(axis.whole)),
        stride(axis.stride),
        total(axis.total) {}
  MipmapTaps taps() const {
    return {table_at<int>(count),
            table_at<int>(index),
            table_at<float>(weights),
            table_at<std::uint32_t>(whole),
            stride,
            total};
  }
};

}  // namespace

struct MipmapChainCuda::Tables {
  // Levels that halve need them too, where they are too small for tiles.
  std::vector<AxisOnDevice> across, down;  ///< axes that make level 1, 2, ...
  Block light;

  explicit Tables(const MipmapPlan& plan) {
    for (const MipmapAxis& axis : plan.across) across.emplace_back(axis);
    for (const MipmapAxis& axis : plan.down) down.emplace_back(axis);
    if (plan.light) light = device_table(std::vector<LightTables>{*plan.light});
  }
};

MipmapChainCuda::MipmapChainCuda(const MipmapChain& chain)
    : chain_(&chain), tables_(std::make_unique<Tables>(chain.plan())) {}
MipmapChainCuda::~MipmapChainCuda() = default;
MipmapChainCuda::MipmapChainCuda(MipmapChainCuda&&) noexcept = default;
MipmapChainCuda& MipmapChainCuda::operator=(MipmapChainCuda&&) noexcept = default;

namespace {

ImageFormat kept_format(const MipmapPlan& plan) {
  ImageFormat format = plan.image;
  format.type = ElementType::F32;
  format.width = plan.sizes[1].width, format.height = plan.sizes[1].height;
  return format;
}

/// Levels first, first + 1, ... that one pass can make.
int levels_that_halve(const MipmapPlan& plan, int first, int last) {
  int count = 0;
  while (count < kTileLevels && first + count <= last && plan.halves(first + count)) ++count;
  return count;
}

/// views[0] is the image that the pass reads.
void launch_tiles(const MipmapPlan& plan, const LightTables* light, std::span<const ImageView> views,
                  void* stream) {
  with_halving_rule(plan, light, [&]<class Rule>(const Rule& rule) {
    const TilesJob job = tiles_job<Rule>(views);
    const auto blocks = static_cast<unsigned>(job.tiles_x * job.tiles_y * views[0].format.planes());
    launch("halve_tiles", halve_tiles<Rule>, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks, kThreads,
           sizeof(TilesShared<Rule>), stream, job, rule);
  });
}

void launch_filter(const MipmapPlan& plan, const LightTables* light, MipmapSource source,
                   const FilterJob& job, void* stream) {
  const Level& out = job.steps[0].out;
  const auto pixels = static_cast<unsigned>(out.width) * static_cast<unsigned>(out.height);
  const bool small = pixels <= static_cast<unsigned>(kSmallLevel);
  with_mipmap_rule(plan, light, source, [&]<class Rule>(const Rule& rule) {
    launch("filter_levels", filter_levels<Rule>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           small ? 1 : (pixels + kThreads - 1) / kThreads, kThreads, 0, stream, job, rule);
  });
}

}  // namespace

std::size_t MipmapChainCuda::scratch_bytes() const {
  const MipmapPlan& plan = chain_->plan();
  return plan.keeps && plan.levels() > 1 ? 2 * packed_bytes(kept_format(plan)) : 0;
}

int MipmapChainCuda::levels_in_one_pass() const {
  return levels_that_halve(chain_->plan(), 1, chain_->levels() - 1);
}

void MipmapChainCuda::build_band(const ImageView& image, std::span<const ImageView> levels, int begin,
                                 int end, void* stream) const {
  const int count = std::min(levels_in_one_pass(), static_cast<int>(levels.size()));
  std::array<ImageView, kTileLevels + 1> views;
  views[0] = rows_of(image, begin, end);
  for (int level = 1; level <= count; ++level) {
    const ImageView& view = levels[static_cast<std::size_t>(level) - 1];
    const int last = end == image.format.height ? view.format.height : end >> level;
    views[static_cast<std::size_t>(level)] = rows_of(view, begin >> level, last);
  }
  launch_tiles(chain_->plan(), table_at<LightTables>(tables_->light),
               {views.data(), static_cast<std::size_t>(count) + 1}, stream);
}

void MipmapChainCuda::build_rest(const ImageView& image, std::span<const ImageView> levels, int from,
                                 void* scratch, void* stream) const {
  const MipmapPlan& plan = chain_->plan();
  const int last = static_cast<int>(levels.size());
  const auto view = [&](int level) {
    return plan.planes_of(level == 0 ? image : levels[static_cast<std::size_t>(level) - 1]);
  };
  const auto small = [&](int level) {
    const ImageFormat& format = view(level).format;
    return static_cast<std::int64_t>(format.width) * format.height <= kSmallLevel;
  };
  const auto kept = [&](int level) {
    if (!plan.keeps || level == 0) return ImageView{};
    auto* at = static_cast<std::byte*>(scratch) +
               packed_bytes(kept_format(plan)) * static_cast<std::size_t>(level % 2);
    return plan.planes_of(packed_view(at, kept_format(plan)));
  };
  while (from <= last) {
    const int halved = small(from) ? 0 : levels_that_halve(plan, from, last);
    if (halved > 0) {
      std::array<ImageView, kTileLevels + 1> views;
      for (int i = 0; i <= halved; ++i) views[static_cast<std::size_t>(i)] = view(from - 1 + i);
      launch_tiles(plan, table_at<LightTables>(tables_->light),
                   {views.data(), static_cast<std::size_t>(halved) + 1}, stream);
      from += halved;
      continue;
    }
    const MipmapSource source = plan.keeps && from > 1 ? MipmapSource::Kept : MipmapSource::Stored;
    FilterJob job{.planes = plan.planes(), .step = plan.step()};
    const bool one_block = small(from);
    do {
      const auto axis = static_cast<std::size_t>(from) - 1;
      FilterStep& step = job.steps[job.count++];
      step.in = level_of(source == MipmapSource::Kept ? kept(from - 1) : view(from - 1));
      step.out = level_of(view(from)), step.kept = level_of(kept(from));
      step.across = tables_->across[axis].taps(), step.down = tables_->down[axis].taps();
      ++from;
      // What is kept becomes another source after the first level.
    } while (one_block && from <= last && !(plan.keeps && source == MipmapSource::Stored));
    launch_filter(plan, table_at<LightTables>(tables_->light), source, job, stream);
  }
}

void MipmapChainCuda::build(const ImageView& image, std::span<const ImageView> levels, void* scratch,
                            void* stream) const {
  build_rest(image, levels, 1, scratch, stream);
}

namespace {

class MipmapCuda final : public Stage {
 public:
  explicit MipmapCuda(const ParamSet& params) : params_(params.as<MipmapParams>()) {}

  void plan(PlanContext& context) override {
    targets_.emplace(params_, context, MemoryKind::Device);
    cuda_.emplace(targets_->chain());
    // One level alone comes up in the time of the image, in bands or not.
    in_bands_ = targets_->atlas() && cuda_->levels_in_one_pass() > 0 && targets_->filled() > 0 &&
                context.image(0).planes() == 1;
    work_ = context.temporary(cuda_->scratch_bytes(), MemoryKind::Device);
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    std::array<ImageView, kMaxLevels> memory;
    targets_->views(context, memory.data());
    const std::span levels(memory.data(), static_cast<std::size_t>(targets_->filled()));
    BandedUpload* const upload = context.uploads.empty() ? nullptr : context.uploads[0];
    if (upload != nullptr && upload->bands().size() == 1) upload->wait_for_all(context.stream);
    const bool in_bands = upload != nullptr && upload->bands().size() > 1;
    const int from = in_bands ? build_in_bands(context, levels, *upload) : 1;
    for (const LevelBox& box : targets_->free())
      enqueue_copy(nullptr, context.image_out(0), box, context.stream);
    if (from == 1)
      if (const auto copy = targets_->image_copy(context))
        enqueue_copy(&in, *copy, {0, 0, in.format.width, in.format.height}, context.stream);
    cuda_->build_rest(in, levels, from, context.scratch<void>(work_), context.stream);
    if (downloads_output() && is_downloaded(context)) download_rest(context, from);
  }

  /// Levels that halve are made of the rows that have arrived.
  bool takes_bands() const override { return in_bands_; }
  /// The image and the levels of the first pass go down row by row, while others come up.
  bool downloads_output() const override { return in_bands_; }

 private:
  static bool is_downloaded(const RunContext& context) {
    return std::get<ImageView>(context.host_outputs[0]).data != context.image_out(0).data;
  }

  /// The image itself, if it is part of the output, and the levels of the first pass. Returns the next level.
  int build_in_bands(const RunContext& context, std::span<const ImageView> levels,
                     BandedUpload& upload) const {
    const ImageView& in = context.image_in(0);
    const auto copy = targets_->image_copy(context);
    const int halved = std::min(cuda_->levels_in_one_pass(), static_cast<int>(levels.size()));
    const bool downloads = downloads_output() && is_downloaded(context);
    const int height = in.format.height;
    int done = 0;
    for (std::size_t band = 0; band < upload.bands().size(); ++band) {
      upload.wait_for(band, context.stream);
      const int end = upload.bands()[band].end;
      const int ready = end == height ? height : end / kMipmapBandRows * kMipmapBandRows;
      if (ready == done) continue;
      if (copy) {
        const ImageView from = rows_of(in, done, ready), to = rows_of(*copy, done, ready);
        enqueue_copy(&from, to, {0, 0, in.format.width, ready - done}, context.stream);
      }
      if (halved > 0) cuda_->build_band(in, levels, done, ready, context.stream);
      if (downloads) {
        made_.mark(context.stream);
        made_.make_wait(down_.get());
        for (int level = 0; level <= halved; ++level)
          download(context, level, done >> level, ready == height ? kToTheEnd : ready >> level, down_.get());
      }
      done = ready;
    }
    if (downloads) {
      made_.mark(down_.get());
      made_.make_wait(context.stream);
    }
    return halved + 1;
  }

  /// Rows [begin, end) of a level of the atlas.
  void download(const RunContext& context, int level, int begin, int end, void* stream) const {
    LevelBox box = targets_->boxes()[static_cast<std::size_t>(level)];
    end = std::min(end, box.height);
    box.y += begin, box.height = end - begin;
    download(context, box, stream);
  }
  static void download(const RunContext& context, const LevelBox& box, void* stream) {
    const ImageView &from = context.image_out(0), &to = std::get<ImageView>(context.host_outputs[0]);
    const ByteBox bytes = bytes_of_box(from, box);
    const auto rows = [&](const ImageView& image) {
      return MemoryRows{static_cast<char*>(image.data) + bytes.offset,
                        static_cast<std::size_t>(image.row_pitch)};
    };
    copy_rows_async(rows(to), rows(from), bytes.row_bytes, static_cast<std::size_t>(bytes.rows), stream);
  }
  /// What build_in_bands has not downloaded: everything where the image did not come in bands.
  void download_rest(const RunContext& context, int from) const {
    const ImageView& out = context.image_out(0);
    if (from == 1)
      return copy_async(std::get<ImageView>(context.host_outputs[0]).data, out.data, packed_bytes(out.format),
                        context.stream);
    for (int level = from; level < static_cast<int>(targets_->boxes().size()); ++level)
      download(context, level, 0, kToTheEnd, context.stream);
    for (const LevelBox& box : targets_->free()) download(context, box, context.stream);
  }

  /// Copies the same box of `from`, which lies at the origin of both; clears without `from`.
  static void enqueue_copy(const ImageView* from, const ImageView& to, const LevelBox& box, void* stream) {
    const ByteBox bytes = bytes_of_box(to, box);
    CopyJob job;
    job.to = static_cast<char*>(to.data) + bytes.offset;
    job.to_row = to.row_pitch, job.to_plane = to.plane_pitch;
    if (from != nullptr) {
      job.from = static_cast<const char*>(from->data);
      job.from_row = from->row_pitch, job.from_plane = from->plane_pitch;
    }
    job.rows = static_cast<unsigned>(bytes.rows), job.planes = static_cast<unsigned>(to.format.planes());
    const auto enqueue = [&]<class Unit>(Unit*) {
      job.units = static_cast<unsigned>(bytes.row_bytes / sizeof(Unit));
      job.blocks_x = (job.units + kThreads - 1) / kThreads;
      launch("copy_boxes", copy_boxes<Unit>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
             job.blocks_x * job.rows * job.planes, kThreads, 0, stream, job);
    };
    ImageView begin = to;
    begin.data = job.to;
    const auto fits = [&](std::size_t unit) {
      return bytes.row_bytes % unit == 0 && divides(unit, begin) && (from == nullptr || divides(unit, *from));
    };
    if (fits(sizeof(uint4)))
      enqueue(static_cast<uint4*>(nullptr));
    else if (fits(sizeof(unsigned)))
      enqueue(static_cast<unsigned*>(nullptr));
    else
      enqueue(static_cast<unsigned char*>(nullptr));
  }

  static constexpr int kToTheEnd = kMaxSide;

  MipmapParams params_;
  std::optional<MipmapTargets> targets_;
  std::optional<MipmapChainCuda> cuda_;
  Scratch work_;
  bool in_bands_ = false;
  // For downloads while later bands come up.
  Stream down_ = Stream::create();
  Event made_ = Event::create();
};

}  // namespace

std::unique_ptr<Stage> make_mipmap_cuda(const ParamSet& params) {
  return std::make_unique<MipmapCuda>(params);
}

}  // namespace contorno
