// Launching the kernels of a pass whose windows are rectangles: two kernels for one window, three for the two
// windows of an opening or closing. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology/columns.cuh"
#include "stages/morphology/whole.cuh"

namespace contorno::morphology_cuda {

/// A block for parts of rows has to make at least so many pixels of a row.
inline constexpr int kFewestAcross = 64;

template <class Rule, class Launcher>
struct RectangleRun {
  using W = typename Rule::W;
  static constexpr int kCount = kLanes<W>;

  const ImageFormat &seen, &format;  ///< formats of the input, which may have its border, and of the output
  const Launcher& launcher;
  std::size_t most_shared = 0;  ///< bytes that a block may have
  int pixel = 1, crop_x = 0, crop_y = 0;
  Lines image, between[2];
  Target target;

  /// Whether these kernels can do the pass.
  bool can(const Window& first, const Window* second) const {
    if (!first.rectangle || (second != nullptr && !second->rectangle)) return false;
    const Window& last = second != nullptr ? *second : first;
    return plan_across(image, between[0], first, second).possible &&
           plan_down(image, target, first).possible && plan_down(image, target, last).possible;
  }
  /// Applies one window: along the rows, then down the columns.
  void one(const Window& window, unsigned outside) const {
    across(image, between[0], window, outside, nullptr, 0);
    down(whole_words(between[0]), target, window, outside);
  }
  /// Applies two windows: the first down the columns, both along the rows in one kernel, then the second down
  /// the columns.
  void both(const Window& first, unsigned outside, const Window& second, unsigned second_outside) const {
    down(image, {.lines = whole_words(between[0])}, first, outside);
    across(between[0], between[1], first, outside, &second, second_outside);
    down(whole_words(between[1]), target, second, second_outside);
  }

 private:
  /// Lines widened to whole words: kernels down the columns work on words and need not know which samples in
  /// them exist.
  Lines whole_words(Lines lines) const {
    lines.samples = (format.width * pixel + kCount - 1) / kCount * kCount;
    return lines;
  }

  /// The window as it lies on lines, without its word outside.
  static LineWindow line_window(const Window& window, int first, int length) {
    return {.first = first, .length = length, .complement = complement_for(window.extreme)};
  }

  static std::size_t shared_bytes(int groups_at, int holders, int stride) {
    return static_cast<std::size_t>(groups_at + (holders + 2) * (kHeld / kShortGroup) * stride) *
           sizeof(unsigned);
  }

  /// How windows along rows are computed: by blocks that hold parts of rows, or whole rows.
  struct AcrossPlan {
    AcrossJob job;
    unsigned threads = 0;  ///< of a block that holds a part
    bool possible = false, by_whole_rows = false;
  };

  AcrossPlan plan_across(const Lines& from, const Lines& to, const Window& window,
                         const Window* second) const {
    AcrossPlan plan{.job = {.in = from, .out = to, .columns = format.width}};
    AcrossJob& job = plan.job;
    job.in_columns = seen.width, job.pixel = pixel;
    job.windows[0] =
        line_window(window, window.left + crop_x, window.columns()).within(seen.width, format.width);
    int halo = job.windows[0].length - 1;
    if (second != nullptr) {
      job.count = 2;
      job.windows[1] = line_window(*second, second->left, second->columns()).within(seen.width, format.width);
      halo += job.windows[1].length - 1;
      job.settle = Rule::kFloat && !window.holds_origin;
    }
    job.grid.high = static_cast<unsigned>((job.out.rows + kCount - 1) / kCount);
    job.grid.planes = static_cast<unsigned>(format.planes());
    // Parts are short, so that one block loads while another computes, but not so short that many pixels are
    // loaded twice.
    const int most = static_cast<int>(kMostThreads) / pixel * kHeld - halo - 4;
    const int wanted = std::min(most, std::max(3300 / pixel, 2 * halo));
    unsigned in_parts = ~0U;  // threads of a row
    if (wanted >= kFewestAcross) {
      const int segments = (job.columns + wanted - 1) / wanted;
      job.segment = ((job.columns + segments - 1) / segments + 3) / 4 * 4;
      job.grid.wide = static_cast<unsigned>((job.columns + job.segment - 1) / job.segment);
      job.holders = (job.segment + halo + kHeld - 1) / kHeld;
      job.groups_at = (job.holders * kHeld + kHeldRoom) * pixel + 8;
      plan.threads = static_cast<unsigned>(job.holders * pixel + 31) / 32 * 32;
      plan.possible = true;
      in_parts = job.grid.wide * plan.threads;
    }
    // Whole rows are better where they need so many fewer threads that it does not matter that fewer blocks
    // run at the same time.
    const WholeRowsJob whole(job);
    if (whole.fits(most_shared)) {
      plan.by_whole_rows = !plan.possible || (whole.threads() <= kGoodWholeThreads &&
                                              whole.threads() * kWholeHeld <= in_parts * kHeld);
      plan.possible = true;
    }
    return plan;
  }

  void across(const Lines& from, const Lines& to, const Window& window, unsigned outside,
              const Window* second, unsigned second_outside) const {
    AcrossPlan plan = plan_across(from, to, window, second);
    AcrossJob& job = plan.job;
    job.windows[0].outside = outside, job.windows[1].outside = second_outside;
    if (plan.by_whole_rows) return whole_rows(WholeRowsJob(job));
    const auto with = [&]<int kPixel>() {
      launcher("window_across", window_across<Rule, kPixel>, job.grid.blocks(), plan.threads,
               shared_bytes(job.groups_at, job.holders, pixel), job);
    };
    if (pixel == 1)
      with.template operator()<1>();
    else if (pixel == 3)
      with.template operator()<3>();
    else
      with.template operator()<0>();
  }
  void whole_rows(const WholeRowsJob& job) const {
    const auto with = [&]<int kPixel>() {
      launcher("window_whole_rows", window_whole_rows<Rule, kPixel>, job.rows.grid.blocks(), job.threads(),
               job.shared_bytes(), job);
    };
    if (pixel == 3)
      with.template operator()<3>();
    else
      with.template operator()<0>();
  }

  /// How a window down columns is computed: by blocks that hold parts of columns, or whole columns.
  struct DownPlan {
    DownJob job;
    unsigned threads = 0;   ///< of a block that holds a part
    int whole_columns = 0;  ///< words across of a block that holds whole columns; 0: it does not
    bool possible = false;

    ColumnsJob whole() const {
      return {.in = job.in,
              .to = job.to,
              .window = job.window,
              .stretches = (job.in.rows + kColumnHeld - 1) / kColumnHeld};
    }
  };

  DownPlan plan_down(const Lines& from, const Target& to, const Window& window) const {
    DownPlan plan{.job = {.in = from, .to = to}};
    DownJob& job = plan.job;
    const int first = window.top + (to.lines.between ? 0 : crop_y);
    job.window = line_window(window, first, window.rows()).within(from.rows, to.lines.rows);
    job.grid.planes = static_cast<unsigned>(format.planes());
    // A block takes as many columns as make a line of the cache, unless windows are so high that blocks must
    // be higher instead.
    const int halo = job.window.length - 1;
    int steps = halo <= 24 ? 8 * kHeld : 16 * kHeld;
    if (halo > 80) job.across = 8, steps = 64 * kHeld;
    while (4 * halo > 3 * steps && job.across > 1) job.across /= 2, steps *= 2;
    if (steps > 2 * halo) {
      const int parts = (to.lines.rows + steps - halo - 1) / (steps - halo);
      job.rows = (to.lines.rows + parts - 1) / parts;
      job.grid.high = static_cast<unsigned>((to.lines.rows + job.rows - 1) / job.rows);
      const int whole_warps = 32 / job.across;
      const int holders =
          ((job.rows + halo + kHeld - 1) / kHeld + whole_warps - 1) / whole_warps * whole_warps;
      plan.threads = static_cast<unsigned>(holders * job.across);
      job.groups_at = (holders * kHeld + kHeldRoom) * job.across;
      plan.possible = true;
    }
    if (job.window.length >= kColumnsFrom || (!plan.possible && job.window.length > kColumnHeld))
      for (const int across : kColumnsAcross)
        if (plan.whole_columns == 0 && plan.whole().shared_bytes(across) <= most_shared)
          plan.whole_columns = across, plan.possible = true;
    return plan;
  }

  void down(const Lines& from, const Target& to, const Window& window, unsigned outside) const {
    DownPlan plan = plan_down(from, to, window);
    DownJob& job = plan.job;
    job.window.outside = outside;
    const int words = (to.lines.samples + kCount - 1) / kCount;
    const int across = plan.whole_columns != 0 ? plan.whole_columns : job.across;
    job.grid.wide = static_cast<unsigned>((words + across - 1) / across);
    if (plan.whole_columns != 0) return columns(plan);
    const auto with = [&]<int kAcross>() {
      launcher("window_down", window_down<Rule, kAcross>, job.grid.blocks(), plan.threads,
               shared_bytes(job.groups_at, static_cast<int>(plan.threads) / across, across), job);
    };
    if (across == 32)
      with.template operator()<32>();
    else
      with.template operator()<0>();
  }
  void columns(const DownPlan& plan) const {
    ColumnsJob job = plan.whole();
    job.grid = {plan.job.grid.wide, 1, plan.job.grid.planes};
    const Pixels& pixels = job.in.pixels;
    if (pixels.words && (!Rule::kFloat || job.in.between))
      job.readable = job.in.between ? static_cast<int>(pixels.row / 4) : job.in.samples / kCount;
    job.quads = (reinterpret_cast<std::uintptr_t>(pixels.data) | static_cast<std::uintptr_t>(pixels.row) |
                 static_cast<std::uintptr_t>(pixels.plane)) %
                    16 ==
                0;
    const auto with = [&]<int kAcross>() {
      if (plan.whole_columns == kAcross)
        launcher("window_columns", window_columns<Rule, kAcross>, job.grid.blocks(), column_threads(kAcross),
                 job.shared_bytes(kAcross), job);
    };
    with.template operator()<kColumnsAcross[0]>();
    with.template operator()<kColumnsAcross[1]>();
  }
};

}  // namespace contorno::morphology_cuda
