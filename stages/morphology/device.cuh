// Launching the kernels that follow a DevicePlan, and those of a reconstruction, for one type of samples. A
// launcher is a parameter, so that the same sequence of launches runs on a device and, kernel by kernel, in
// the tests' emulator. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology/device_plan.h"
#include "stages/morphology/device_rectangles.cuh"
#include "stages/morphology/reconstruct.cuh"
#include "stages/morphology/strips.cuh"
#include "stages/morphology/tiles.cuh"

namespace contorno::morphology_cuda {

/// Bytes of shared memory that window_rows takes at most.
inline constexpr std::size_t kLineShared = 200 << 10;

inline Pixels pixels_of(const ImageView& image) {
  return {.data = static_cast<char*>(image.data),
          .row = image.row_pitch,
          .plane = image.format.planes() > 1 ? image.plane_pitch : 0,
          .words = reinterpret_cast<std::uintptr_t>(image.data) % 4 == 0 && image.row_pitch % 4 == 0 &&
                   image.plane_pitch % 4 == 0};
}

/// `count` threads in blocks of `threads`.
inline unsigned blocks_for(long long count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// Launches the kernels of one pass: those for rectangles where all its windows are rectangles, else by
/// tiles, else the general ones. `launcher` starts a kernel, on a device or in the emulator.
template <class Rule, class Launcher>
class PassRun {
  using W = typename Rule::W;
  using S = typename Rule::Stored;

 public:
  PassRun(const DevicePlan& device, std::size_t pass, const PlanRun& memory, const Launcher& launcher)
      : device_(device), pass_(device.plan().passes[pass]), memory_(memory), launcher_(launcher) {
    for (std::size_t before = 0; before < pass; ++before)
      first_window_ += device.plan().passes[before].windows.size();
    seen_ = device.seen_by(pass_);
    strips_ = device.strips_of(seen_);
    source_ = pixels_of(at(pass_.from));
  }

  void operator()() {
    if (device_.pads()) pad();
    if constexpr (!Rule::kHeights) {
      if (rectangles()) return;
      if (device_.by_tiles(pass_, first_window_)) return tiles();
    }
    general();
  }

 private:
  ImageView at(MorphologyPass::Place where) const {
    if (where == MorphologyPass::Place::Image) return memory_.in;
    if (where == MorphologyPass::Place::Output) return memory_.out;
    return packed_view(memory_.scratch + device_.between_at(), device_.plan().format);
  }
  unsigned* words(std::size_t which) const {
    return reinterpret_cast<unsigned*>(memory_.scratch + device_.words_at(which));
  }
  /// `value` in every lane.
  static unsigned word(W value) {
    if constexpr (sizeof(W) == 1) return 0x01010101U * static_cast<unsigned>(value);
    if constexpr (sizeof(W) == 2)
      return 0x00010001U * static_cast<unsigned>(static_cast<std::uint16_t>(value));
    return static_cast<unsigned>(value);
  }
  unsigned outside(const Window& window) const {
    const MorphologyOptions& options = device_.plan().options;
    return word(options.border == MorphologyBorder::Constant
                    ? Rule::load(static_cast<S>(options.border_value))
                    : Rule::nothing(window.extreme));
  }
  /// Whether results of the window have to be limited to the samples' range before they go into the next one.
  static bool settles(const Window& window) {
    return Rule::kHeights || (Rule::kFloat && !window.holds_origin);
  }
  Lines from_image() const {
    return {.pixels = source_, .samples = seen_.width * strips_.pixel, .rows = seen_.height};
  }
  Lines lines_between(std::size_t which) const {
    const auto pitch = static_cast<std::ptrdiff_t>(device_.lines_pitch(seen_));
    const Pixels pixels{.data = reinterpret_cast<char*>(words(which)),
                        .row = pitch,
                        .plane = pitch * seen_.height,
                        .words = true};
    return {.pixels = pixels, .samples = seen_.width * strips_.pixel, .rows = seen_.height, .between = true};
  }
  Target to_image() const {
    const MorphologyPlan& plan = device_.plan();
    const Lines lines{.pixels = pixels_of(at(pass_.to)),
                      .samples = plan.format.width * strips_.pixel,
                      .rows = plan.format.height};
    return {.lines = lines,
            .source = pixels_of(memory_.in),
            .result = pass_.result,
            .keeps_alpha = plan.keeps_alpha};
  }

  /// Launches the kernels for rectangles, if they can do the pass; returns whether they can.
  bool rectangles() const {
    const Window& first = pass_.windows.front();
    const Window* second = pass_.windows.size() == 2 ? &pass_.windows.back() : nullptr;
    RectangleRun<Rule, Launcher> run{.seen = seen_, .format = device_.plan().format, .launcher = launcher_};
    run.most_shared = device_.most_shared();
    run.pixel = strips_.pixel, run.crop_x = crop_x_, run.crop_y = crop_y_;
    run.image = from_image(), run.target = to_image();
    run.between[0] = lines_between(0), run.between[1] = lines_between(1);
    if (!run.can(first, second)) return false;
    if (second != nullptr)
      run.both(first, outside(first), *second, outside(*second));
    else
      run.one(first, outside(first));
    return true;
  }

  void tiles() const {
    if (pass_.windows.size() == 1) return tile(0, from_image(), to_image(), false);
    tile(0, from_image(), {.lines = lines_between(0)}, settles(pass_.windows.front()));
    tile(1, lines_between(0), to_image(), false);
  }
  void tile(std::size_t which, const Lines& from, const Target& to, bool settle) const {
    const Window& window = pass_.windows[which];
    const TilePlan& plan = device_.window(first_window_ + which).tile;
    TileJob job{.in = from, .to = to, .runs = memory_.runs + plan.runs, .levels = plan.levels};
    std::copy_n(plan.level_ends, plan.levels, job.level_ends);
    job.pixel = strips_.pixel, job.left = plan.left, job.top = window.top + crop_y_;
    job.in_down = plan.in_down, job.outputs = plan.outputs;
    const int down = plan.down() * kLanes<W>;
    job.grid = {static_cast<unsigned>((to.lines.samples + kTileAcross - 1) / kTileAcross),
                static_cast<unsigned>((to.lines.rows + down - 1) / down),
                static_cast<unsigned>(strips_.planes)};
    job.settle = settle, job.complement = complement_for(window.extreme), job.outside = outside(window);
    const auto with = [&]<int kPitch>() {
      if (plan.pitch == kPitch)
        launcher_("window_tile", window_tile<Rule, kPitch>, job.grid.blocks(), kTileThreads,
                  plan.shared_bytes(), job);
    };
    with.template operator()<kTilePitches[0]>();
    with.template operator()<kTilePitches[1]>();
    with.template operator()<kTilePitches[2]>();
  }

  void pad() {
    const Window& window = pass_.windows.front();
    const ImageFormat& format = device_.plan().format;
    PadJob job{.in = source_, .out = pixels_of(packed_view(memory_.scratch + device_.padded_at(), seen_))};
    job.width = seen_.width, job.height = seen_.height, job.planes = seen_.planes();
    job.in_width = format.width, job.in_height = format.height;
    crop_x_ = job.left = std::max(0, -window.left), crop_y_ = job.top = std::max(0, -window.top);
    job.pixel = strips_.pixel, job.border = device_.plan().options.border;
    source_ = job.out;
    const long long pixels = static_cast<long long>(job.width) * job.height * job.planes;
    launcher_("pad_image", pad_image<S>, blocks_for(pixels, kPadThreads), kPadThreads, 0, job);
  }

  /// The general kernels: the image becomes words, each window goes from words to words, and the words become
  /// the result.
  void general() const {
    const Window& first = pass_.windows.front();
    const Window& last = pass_.windows.back();
    RowsJob in = rows_job(first);
    in.image = source_, in.out = words(0), in.next_outside = outside(first);
    rows(in);
    std::size_t from = 0;
    for (std::size_t w = 0; w < pass_.windows.size(); ++w, from = 1 - from) {
      const bool is_last = w + 1 == pass_.windows.size();
      const Window& window = pass_.windows[w];
      TermsJob job{.strips = strips_, .table = strips_, .out = words(1 - from), .terms = memory_.terms};
      job.top = window.top, job.settle = !is_last && settles(window);
      job.complement = complement_for(window.extreme), job.nothing = word(Rule::nothing(window.extreme));
      job.outside = outside(window), job.next_outside = outside(is_last ? window : last);
      const DeviceWindow& placed = device_.window(first_window_ + w);
      if constexpr (Rule::kHeights)
        members(window, placed, words(from), job);
      else
        runs(window, placed, words(from), job);
    }
    RowsJob back = rows_job(last);
    back.in = words(from), back.target = pixels_of(at(pass_.to)), back.source = pixels_of(memory_.in);
    back.target_width = device_.plan().format.width, back.target_height = device_.plan().format.height;
    back.crop_x = crop_x_, back.crop_y = crop_y_;
    back.result = pass_.result, back.keeps_alpha = device_.plan().keeps_alpha;
    rows(back);
  }
  RowsJob rows_job(const Window& window) const {
    RowsJob job{.strips = strips_, .columns = strips_.width};
    job.complement = complement_for(window.extreme), job.outside = outside(window);
    return job;
  }
  /// Launches window_rows; rows are cut into equal parts that fit into shared memory.
  void rows(RowsJob& job) const {
    const int most =
        static_cast<int>(kLineShared / (2 * sizeof(unsigned))) / strips_.pixel - job.length - 2 * kGroup - 8;
    const int wanted = std::min(std::max({3300 / strips_.pixel, 4 * job.length, 64}), most);
    job.segments = std::max(1, (job.columns + wanted - 1) / wanted);
    job.segment = ((job.columns + job.segments - 1) / job.segments + 3) / 4 * 4;
    job.segments = (job.columns + job.segment - 1) / job.segment;
    job.taken = (job.segment + job.length - 1 + 2 * kGroup) * strips_.pixel;
    const auto blocks = static_cast<unsigned>(job.segments) * static_cast<unsigned>(strips_.strip) *
                        static_cast<unsigned>(strips_.planes);
    launcher_("window_rows", window_rows<Rule>, blocks, kLineThreads,
              2 * static_cast<std::size_t>(job.taken) * sizeof(unsigned), job);
  }
  void terms(const TermsJob& job) const {
    const auto words_of_all = static_cast<long long>(strips_.words()) * strips_.planes;
    launcher_("window_terms", window_terms<Rule>, blocks_for(words_of_all, kTermThreads), kTermThreads, 0,
              job);
  }
  /// Applies a window with heights, member by member.
  void members(const Window& window, const DeviceWindow& placed, const unsigned* from, TermsJob& job) const {
    job.in = from, job.left = window.left * strips_.pixel;
    job.begin = device_.table(placed, 0).begin;
    job.end = device_.table(placed, window.tables.size() - 1).end;
    terms(job);
  }
  /// Applies a window without heights: for each length of its runs the maxima over that length, for the image
  /// and the positions beside it where runs begin, and then the terms of that length.
  void runs(const Window& window, const DeviceWindow& placed, const unsigned* from, TermsJob& job) const {
    job.in = words(2);
    for (std::size_t t = 0, last = last_table(window, placed); t <= last; ++t) {
      const DeviceTable& table = device_.table(placed, t);
      if (table.begin == table.end) continue;
      RowsJob along = rows_job(window);
      along.in = from, along.out = words(2), along.first = window.left;
      along.length = window.tables[t].length;
      along.columns = job.table.width = strips_.width + window.columns() - along.length;
      along.next_outside = along.outside;
      rows(along);
      job.begin = table.begin, job.end = table.end, job.last = t == last;
      terms(job);
      job.first = false;
    }
  }
  /// The last table that has terms.
  std::size_t last_table(const Window& window, const DeviceWindow& placed) const {
    std::size_t last = window.tables.size() - 1;
    while (device_.table(placed, last).begin == device_.table(placed, last).end) --last;
    return last;
  }

  const DevicePlan& device_;
  const MorphologyPass& pass_;
  const PlanRun& memory_;
  const Launcher& launcher_;
  std::size_t first_window_ = 0;
  ImageFormat seen_;
  Strips strips_;
  Pixels source_;
  int crop_x_ = 0, crop_y_ = 0;
};

/// Launches all passes of a plan for samples of type S.
template <class S, class Launcher>
void run_passes(const DevicePlan& device, const PlanRun& memory, const Launcher& launcher) {
  for (std::size_t pass = 0; pass < device.plan().passes.size(); ++pass) {
    if (device.plan().raised)
      PassRun<MorphologySample<S, true>, Launcher>(device, pass, memory, launcher)();
    else
      PassRun<MorphologySample<S, false>, Launcher>(device, pass, memory, launcher)();
  }
}

/// Launches a reconstruction of samples of type S.
template <class S, class Launcher>
void run_reconstruction(const ReconstructionRun& images, const Launcher& launcher) {
  const ImageFormat& format = images.out.format;
  const bool planar = format.layout == Layout::Planar, alpha = keeps_alpha(format, images.options.alpha);
  CutJob cut{
      .marker = pixels_of(images.marker), .mask = pixels_of(images.mask), .result = pixels_of(images.out)};
  cut.samples = static_cast<int>(format.samples_per_row()), cut.rows = format.height,
  cut.planes = format.planes();
  cut.keeps_alpha = alpha;
  ReconstructJob job{.result = cut.result, .mask = cut.mask, .width = format.width, .height = format.height};
  job.step = planar ? 1 : format.channels, job.channels = alpha ? 3 : format.channels, job.planar = planar;
  job.eight = images.options.neighbours == Neighbours::Eight;
  job.tiles_x = (format.width + kTileSide - 1) / kTileSide;
  job.tiles_y = (format.height + kTileSide - 1) / kTileSide;
  job.state = reinterpret_cast<unsigned*>(images.state);
  job.awake = reinterpret_cast<unsigned char*>(images.state) + kReconstructState * sizeof(unsigned);
  cut.complement = job.complement = complement_for(images.method);
  const long long samples = static_cast<long long>(cut.samples) * cut.rows * cut.planes;
  launcher("cut_marker", cut_marker<S>, blocks_for(samples, kCutThreads), kCutThreads, 0, cut);
  launcher.together("reconstruct_tiles", reconstruct_tiles<S>,
                    std::min(images.blocks, static_cast<unsigned>((job.tiles() + 3) / 4)),
                    kReconstructThreads, job);
}

}  // namespace contorno::morphology_cuda
