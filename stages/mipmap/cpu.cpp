#include "stages/mipmap/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/mipmap/plan.h"
#include "stages/mipmap/rows.h"
#include "stages/mipmap/stage.h"

namespace contorno {
namespace {

/// Px of the level before that a px of the next one stands for.
double step_of(int in, int out, const MipmapOptions& options) {
  if (options.filter == MipmapFilter::Clamp) return std::min(in, options.width);
  return static_cast<double>(in) / out;
}

std::vector<ImageFormat> formats_of(const MipmapPlan& plan) {
  std::vector<ImageFormat> formats{plan.image};
  for (std::size_t level = 1; level < plan.sizes.size(); ++level) {
    ImageFormat next = formats.back();
    next.width = plan.sizes[level].width, next.height = plan.sizes[level].height;
    next.placement.scale_x *= step_of(formats.back().width, next.width, plan.options);
    next.placement.scale_y *= step_of(formats.back().height, next.height, plan.options);
    next.atlas = {};
    formats.push_back(next);
  }
  return formats;
}

/// Levels beyond this size do not stay in any cache until somebody reads them.
constexpr std::size_t kPastCacheBytes = 4 << 20;

/// One call of MipmapChain::build.
class Build {
 public:
  Build(const MipmapPlan& plan, const ImageView& image, std::span<const ImageView> levels, void* scratch,
        int threads, Simd simd)
      : plan_(plan),
        image_(image),
        levels_(levels),
        threads_(threads),
        simd_(simd),
        halve_(halve_row(plan, simd)),
        halve_twice_(halve_twice(plan, simd)),
        columns_(static_cast<std::byte*>(scratch)) {
    std::byte* kept = columns_ + columns_bytes(plan) * static_cast<std::size_t>(threads);
    for (int i = 0; i < 2 && plan.keeps && plan.levels() > 1; ++i) {
      kept_[i] = plan.planes_of(packed_view(kept, kept_format(plan)));
      kept += packed_bytes(kept_format(plan));
    }
  }

  void run() {
    const int last = static_cast<int>(levels_.size());
    for (int level = 1; level <= last;) {
      int end = level;  // of the levels that are halved together
      while (end <= last && plan_.halves(end)) ++end;
      if (end == level) {
        filter(level++);
      } else {
        // Rows of the deepest level are what threads share; there must be enough of them.
        while (end - 1 > level && size(end - 1).height < 4 * threads_) --end;
        halve(level, end - 1);
        level = end;
      }
    }
  }

  static std::size_t columns_bytes(const MipmapPlan& plan) {
    for (int level = 1; level < plan.levels(); ++level)
      if (!plan.halves(level))
        return filter_row_bytes(plan, plan.sizes[static_cast<std::size_t>(level) - 1].width);
    return 0;
  }
  static ImageFormat kept_format(const MipmapPlan& plan) {
    ImageFormat format = plan.image;
    format.type = ElementType::F32;
    format.width = plan.sizes[1].width, format.height = plan.sizes[1].height;
    return format;
  }

 private:
  const LevelBox& size(int level) const { return plan_.sizes[static_cast<std::size_t>(level)]; }
  ImageView view(int level) const {
    return plan_.planes_of(level == 0 ? image_ : levels_[static_cast<std::size_t>(level) - 1]);
  }

  /// Levels `first` to `last`: each row of the last one with all rows that it is made of, depth first, so
  /// that they are still in the cache when they are read.
  void halve(int first, int last) const {
    const int planes = plan_.planes(), rows = size(last).height;
    for_tasks(threads_, planes * rows,
              [&](int task) { halve_down_to(first, last, task / rows, task % rows); });
    // With `clamp` an odd height leaves rows that nothing is made of.
    for (int level = first; level < last; ++level)
      for (int plane = 0; plane < planes; ++plane)
        for (int y = rows << (last - level); y < size(level).height; ++y) halve_one(level, plane, y);
  }
  void halve_down_to(int first, int level, int plane, int y) const {
    if (level == first + 1 && halve_twice_ != nullptr) return halve_two(level, plane, y);
    if (level > first) {
      halve_down_to(first, level - 1, plane, 2 * y);
      halve_down_to(first, level - 1, plane, 2 * y + 1);
    }
    halve_one(level, plane, y);
  }
  /// Row `y` of `level`, and the two of the level before that it is made of.
  void halve_two(int level, int plane, int y) const {
    using Byte = std::uint8_t;
    const ImageView in = view(level - 2), half = view(level - 1);
    HalvedTwice rows{.half = {half.row<Byte>(2 * y, plane), half.row<Byte>(2 * y + 1, plane)},
                     .quarter = view(level).row<Byte>(y, plane),
                     .half_width = size(level - 1).width,
                     .width = size(level).width,
                     .past_cache = packed_bytes(half.format) >= kPastCacheBytes};
    for (int i = 0; i < 4; ++i) rows.in[i] = in.row<const Byte>(4 * y + i, plane);
    halve_twice_(rows);
  }
  void halve_one(int level, int plane, int y) const {
    const ImageView in = view(level - 1);
    halve_(plan_.light, in.row<const char>(2 * y, plane), in.row<const char>(2 * y + 1, plane),
           view(level).row<char>(y, plane), size(level).width);
  }

  void filter(int level) const {
    const int planes = plan_.planes(), height = size(level).height, rows = planes * height;
    const int strips = std::min(threads_, rows);
    const MipmapSource source = plan_.keeps && level > 1 ? MipmapSource::Kept : MipmapSource::Stored;
    ImageView in = source == MipmapSource::Kept ? kept_[(level - 1) % 2] : view(level - 1);
    in.format.width = size(level - 1).width, in.format.height = size(level - 1).height;
    const FilterFunction function = filter_row(plan_, source, simd_);
    const auto step = static_cast<std::size_t>(level) - 1;
    for_rows(threads_, strips, [&](int strip) {
      const auto begin = static_cast<int>(static_cast<std::int64_t>(rows) * strip / strips);
      const auto end = static_cast<int>(static_cast<std::int64_t>(rows) * (strip + 1) / strips);
      FilterRow row{.in = &in, .across = plan_.across[step].taps(), .down = plan_.down[step].taps()};
      row.width = size(level).width, row.step = plan_.step();
      row.columns = columns_ + columns_bytes(plan_) * static_cast<std::size_t>(strip);
      for (int one = begin; one < end; ++one) {
        row.plane = one / height, row.y = one % height;
        row.out = view(level).row<char>(row.y, row.plane);
        row.kept = plan_.keeps ? kept_[level % 2].row<float>(row.y, row.plane) : nullptr;
        function(plan_.light, row);
      }
    });
  }

  const MipmapPlan& plan_;
  const ImageView& image_;
  std::span<const ImageView> levels_;
  int threads_;
  Simd simd_;
  HalveRow halve_;
  HalveTwice halve_twice_;
  std::byte* columns_;
  ImageView kept_[2];
};

}  // namespace

MipmapChain::MipmapChain(const ImageFormat& image, const MipmapOptions& options)
    : plan_(make_mipmap_plan(image, options)), formats_(formats_of(*plan_)), offsets_{0} {
  for (std::size_t level = 1; level < formats_.size(); ++level) {
    offsets_.push_back(bytes_);
    bytes_ += align_up(packed_bytes(formats_[level]));
  }
}
MipmapChain::~MipmapChain() = default;
MipmapChain::MipmapChain(MipmapChain&&) noexcept = default;
MipmapChain& MipmapChain::operator=(MipmapChain&&) noexcept = default;

ImageView MipmapChain::level_in(void* block, int level) const {
  return packed_view(static_cast<std::byte*>(block) + offset(level), format(level));
}

std::size_t MipmapChain::scratch_bytes(int threads) const {
  std::size_t bytes = Build::columns_bytes(*plan_) * static_cast<std::size_t>(std::max(1, threads));
  if (plan_->keeps && levels() > 1) bytes += 2 * packed_bytes(Build::kept_format(*plan_));
  return bytes;
}

void MipmapChain::build(const ImageView& image, std::span<const ImageView> levels, void* scratch, int threads,
                        Simd simd) const {
  Build(*plan_, image, levels, scratch, std::max(1, threads), simd).run();
}

Mipmaps mipmaps(const ImageView& image, const MipmapOptions& options, int threads) {
  const MipmapChain chain(image.format, options);
  Mipmaps all{.memory = Block(std::max<std::size_t>(1, chain.bytes()), MemoryKind::Host), .levels = {image}};
  for (int level = 1; level < chain.levels(); ++level)
    all.levels.push_back(chain.level_in(all.memory.data(), level));
  const Block scratch(std::max<std::size_t>(1, chain.scratch_bytes(threads)), MemoryKind::Host);
  chain.build(image, std::span(all.levels).subspan(1), scratch.data(), threads, best_simd());
  return all;
}

}  // namespace contorno
