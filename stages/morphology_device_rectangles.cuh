// The launches of a pass whose windows are rectangles: two kernels for one window, three for both of an
// opening. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology_whole.cuh"

namespace contorno::morphology_cuda {

template <class Rule, class Launcher>
struct RectangleRun {
  using W = typename Rule::W;
  static constexpr int kCount = kLanes<W>;

  const ImageFormat &seen, &format;  ///< of the input, which may have its border around it, and of the output
  const Launcher& launcher;
  int pixel = 1, crop_x = 0, crop_y = 0;
  Lines image, between[2];
  Target target;

  /// Along the rows, then down.
  void one(const Window& window, unsigned outside) const {
    across(image, between[0], window, outside, nullptr, 0);
    down(whole_words(between[0]), target, window, outside);
  }
  /// Down, both along the rows, and down.
  void both(const Window& first, unsigned outside, const Window& second, unsigned second_outside) const {
    down(image, {.lines = whole_words(between[0])}, first, outside);
    across(between[0], between[1], first, outside, &second, second_outside);
    down(whole_words(between[1]), target, second, second_outside);
  }

 private:
  /// With what shares a word with the last sample of a row: columns do not ask what their samples are.
  Lines whole_words(Lines lines) const {
    lines.samples = (format.width * pixel + kCount - 1) / kCount * kCount;
    return lines;
  }

  static std::size_t shared_bytes(int groups_at, int holders, int stride) {
    return static_cast<std::size_t>(groups_at + (holders + 2) * (kHeld / kShortGroup) * stride) *
           sizeof(unsigned);
  }

  void across(const Lines& from, const Lines& to, const Window& window, unsigned outside,
              const Window* second, unsigned second_outside) const {
    AcrossJob job{.in = from, .out = to, .columns = format.width};
    job.in_columns = seen.width, job.pixel = pixel;
    job.first = window.left + crop_x, job.length = window.columns();
    job.outside = outside;
    int halo = job.length - 1;
    if (second != nullptr) {
      job.second_first = second->left, job.second_length = second->columns();
      job.second_outside = second_outside, halo += job.second_length - 1;
      job.settle = Rule::kFloat && !window.holds_origin;
    }
    // Short rows, so that one block loads while another computes, but few pixels that two blocks load.
    const int most = static_cast<int>(kMostThreads) / pixel * kHeld - halo - 4;
    const int wanted = std::min(most, std::max(3300 / pixel, 2 * halo));
    const int segments = (job.columns + wanted - 1) / wanted;
    job.segment = ((job.columns + segments - 1) / segments + 3) / 4 * 4;
    job.segments = static_cast<unsigned>((job.columns + job.segment - 1) / job.segment);
    job.high = static_cast<unsigned>((job.out.rows + kCount - 1) / kCount);
    job.planes = static_cast<unsigned>(format.planes());
    job.holders = (job.segment + halo + kHeld - 1) / kHeld;
    const auto threads = static_cast<unsigned>(job.holders * pixel + 31) / 32 * 32;
    if (second != nullptr && whole_rows(job, window.extreme, job.segments * threads)) return;
    const unsigned blocks = job.segments * job.high * job.planes;
    job.groups_at = (job.holders * kHeld + kHeldRoom) * pixel + 8;
    const std::size_t shared = shared_bytes(job.groups_at, job.holders, pixel);
    const auto with = [&]<Extreme kExtreme>() {
      const char* name = "window_across";
      if (pixel == 1)
        launcher(name, window_across<Rule, kExtreme, 1>, blocks, threads, shared, job);
      else if (pixel == 3)
        launcher(name, window_across<Rule, kExtreme, 3>, blocks, threads, shared, job);
      else
        launcher(name, window_across<Rule, kExtreme, 0>, blocks, threads, shared, job);
    };
    window.extreme == Extreme::Minimum ? with.template operator()<Extreme::Minimum>()
                                       : with.template operator()<Extreme::Maximum>();
  }

  /// The same by blocks that hold whole rows, where that takes so much fewer than `threads` threads a row
  /// that it is worth it that fewer blocks run at the same time. Returns whether it is.
  bool whole_rows(const AcrossJob& rows, Extreme extreme, unsigned threads) const {
    WholeRowsJob job{.rows = rows, .first = {rows.first, rows.length}};
    job.second = {rows.second_first, rows.second_length};
    if (rows.in_columns != rows.columns || !job.first.fits(rows.columns) || !job.second.fits(rows.columns))
      return false;
    const int holders = std::max(job.first.holders(rows.columns), job.second.holders(rows.columns));
    const auto needed = static_cast<unsigned>(holders * pixel + 31) / 32 * 32;
    if (needed > kMostWholeThreads || 4 * needed * kWholeHeld > 3 * threads * kHeld) return false;
    job.rows.holders = holders, job.lead = (kWholeHeld * pixel + 3) / 4 * 4;
    const int reach = std::max(job.first.reach(), job.second.reach());
    job.room = std::max(reach, holders * kWholeHeld - rows.columns) * pixel;
    job.rows.groups_at = job.lead + rows.columns * pixel + job.room;
    const std::size_t shared =
        static_cast<std::size_t>(job.rows.groups_at + holders * pixel) * sizeof(unsigned);
    if (shared > kMostWholeShared) return false;
    const unsigned blocks = rows.high * rows.planes;
    const auto with = [&]<Extreme kExtreme>() {
      const char* name = "window_whole_rows";
      if (pixel == 3)
        launcher(name, window_whole_rows<Rule, kExtreme, 3>, blocks, needed, shared, job);
      else
        launcher(name, window_whole_rows<Rule, kExtreme, 0>, blocks, needed, shared, job);
    };
    extreme == Extreme::Minimum ? with.template operator()<Extreme::Minimum>()
                                : with.template operator()<Extreme::Maximum>();
    return true;
  }

  void down(const Lines& from, const Target& to, const Window& window, unsigned outside) const {
    DownJob job{.in = from, .to = to, .first = window.top, .length = window.rows()};
    if (!to.lines.between) job.first += crop_y;
    job.outside = outside;
    // As many columns as make a line of the cache, unless windows are so high that blocks must be too.
    const int halo = job.length - 1;
    int steps = halo <= 24 ? 8 * kHeld : 16 * kHeld;
    if (halo > 80) job.across = 8, steps = 64 * kHeld;
    while (4 * halo > 3 * steps && job.across > 1) job.across /= 2, steps *= 2;
    const int parts = (to.lines.rows + steps - halo - 1) / (steps - halo);
    job.rows = (to.lines.rows + parts - 1) / parts;
    const int words = (to.lines.samples + kCount - 1) / kCount;
    job.high = static_cast<unsigned>((to.lines.rows + job.rows - 1) / job.rows);
    job.wide = static_cast<unsigned>((words + job.across - 1) / job.across);
    job.planes = static_cast<unsigned>(format.planes());
    const int whole_warps = 32 / job.across;
    const int holders = ((job.rows + halo + kHeld - 1) / kHeld + whole_warps - 1) / whole_warps * whole_warps;
    const auto threads = static_cast<unsigned>(holders * job.across);
    const unsigned blocks = job.wide * job.high * job.planes;
    job.groups_at = (holders * kHeld + kHeldRoom) * job.across;
    const std::size_t shared = shared_bytes(job.groups_at, holders, job.across);
    const auto with = [&]<Extreme kExtreme>() {
      const char* name = "window_down";
      if (job.across == 32)
        launcher(name, window_down<Rule, kExtreme, 32>, blocks, threads, shared, job);
      else if (job.across == 8)
        launcher(name, window_down<Rule, kExtreme, 8>, blocks, threads, shared, job);
      else
        launcher(name, window_down<Rule, kExtreme, 0>, blocks, threads, shared, job);
    };
    window.extreme == Extreme::Minimum ? with.template operator()<Extreme::Minimum>()
                                       : with.template operator()<Extreme::Maximum>();
  }
};

}  // namespace contorno::morphology_cuda
