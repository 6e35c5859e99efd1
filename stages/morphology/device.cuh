// Launching the passes of a DevicePlan, and reconstructions. Internal.
#pragma once

#include "stages/morphology/device_plan.cuh"
#include "stages/morphology/device_rectangles.cuh"
#include "stages/morphology/reconstruct.cuh"

namespace contorno::morphology_cuda {

/// Launches the kernels of one pass: those for rectangles where all its windows are rectangles, else by
/// tiles, else by the general kernels. `launcher` starts a kernel, on a device or in the emulator.
template <class Rule, class Launcher>
struct DevicePlan::PassRun {
  using W = typename Rule::W;
  using S = typename Rule::Stored;

  const DevicePlan& device;
  const MorphologyPass& pass;
  std::size_t first_window;
  const ImageView &in, &out;
  const TileRuns* runs_of_plan;
  const DeviceTerm* terms;
  std::byte* scratch;
  const Launcher& launcher;
  Strips strips{};
  Pixels source{};
  int crop_x = 0, crop_y = 0;

  ImageView at(MorphologyPass::Place where) const {
    if (where == MorphologyPass::Place::Image) return in;
    if (where == MorphologyPass::Place::Output) return out;
    return packed_view(scratch + device.between_at_, device.plan_.format);
  }
  unsigned* words(int which) const {
    return reinterpret_cast<unsigned*>(scratch + static_cast<std::size_t>(which) * device.words_bytes_);
  }
  static unsigned word(W value) {
    if constexpr (sizeof(W) == 1) return 0x01010101U * static_cast<unsigned>(value);
    if constexpr (sizeof(W) == 2)
      return 0x00010001U * static_cast<unsigned>(static_cast<std::uint16_t>(value));
    return static_cast<unsigned>(value);
  }
  unsigned outside(const Window& window) const {
    if (device.plan_.options.border == MorphologyBorder::Constant)
      return word(Rule::load(static_cast<S>(device.plan_.options.border_value)));
    return word(Rule::nothing(window.extreme));
  }

  template <PassResult kResult>
  void go() {
    const ImageFormat seen = device.seen_by(pass);
    strips = device.strips_of(seen);
    source = pixels_of(at(pass.from));
    if (device.pads()) pad(seen);
    const Window& first = pass.windows.front();
    const Window& last = pass.windows.back();
    if constexpr (!Rule::kHeights) {
      if (rectangles(seen)) return;
      if (device.by_tiles(pass, first_window)) return tiles(seen);
    }
    rows<Place::Image, Place::Words, PassResult::Store>(first, 0, 1, strips.width, words(0), nullptr,
                                                        outside(first), outside(first));
    int from = 0;
    for (std::size_t w = 0; w < pass.windows.size(); ++w, from = 1 - from) {
      const bool is_last = w + 1 == pass.windows.size();
      shape(pass.windows[w], device.windows_[first_window + w], words(from), words(1 - from),
            outside(is_last ? pass.windows[w] : last), !is_last);
    }
    rows<Place::Words, Place::Image, kResult>(last, 0, 1, strips.width, nullptr, words(from), outside(last),
                                              0);
  }

 private:
  Lines from_image(const ImageFormat& seen) const {
    return {.pixels = source, .samples = seen.width * strips.pixel, .rows = seen.height};
  }
  Lines lines_between(const ImageFormat& seen, int which) const {
    const auto pitch = static_cast<std::ptrdiff_t>(device.lines_pitch(seen));
    const Pixels pixels{.data = reinterpret_cast<char*>(words(which)),
                        .row = pitch,
                        .plane = pitch * seen.height,
                        .words = true};
    return {.pixels = pixels, .samples = seen.width * strips.pixel, .rows = seen.height, .between = true};
  }
  Target to_image() const {
    Target target{.source = pixels_of(in), .result = pass.result};
    target.keeps_alpha = device.plan_.keeps_alpha;
    target.lines.pixels = pixels_of(at(pass.to));
    target.lines.samples = device.plan_.format.width * strips.pixel;
    target.lines.rows = device.plan_.format.height;
    return target;
  }

  /// Launches the kernels for rectangles, if they can do the pass; returns whether they can.
  bool rectangles(const ImageFormat& seen) const {
    const Window& first = pass.windows.front();
    const Window* second = pass.windows.size() == 2 ? &pass.windows.back() : nullptr;
    RectangleRun<Rule, Launcher> run{.seen = seen, .format = device.plan_.format, .launcher = launcher};
    run.most_shared = device.most_shared_;
    run.pixel = strips.pixel, run.crop_x = crop_x, run.crop_y = crop_y;
    run.image = from_image(seen), run.target = to_image();
    run.between[0] = lines_between(seen, 0), run.between[1] = lines_between(seen, 1);
    if (!run.can(first, second)) return false;
    if (second != nullptr)
      run.both(first, outside(first), *second, outside(*second));
    else
      run.one(first, outside(first));
    return true;
  }

  void tiles(const ImageFormat& seen) const {
    Target target = to_image();
    if (pass.windows.size() == 1) return tile(0, from_image(seen), target, false);
    tile(0, from_image(seen), {.lines = lines_between(seen, 0)},
         Rule::kFloat && !pass.windows.front().holds_origin);
    tile(1, lines_between(seen, 0), target, false);
  }
  void tile(std::size_t which, const Lines& from, const Target& to, bool settle) const {
    const Window& window = pass.windows[which];
    const TilePlan& plan = device.windows_[first_window + which].tile;
    TileJob job{.in = from, .to = to, .runs = runs_of_plan + plan.runs, .levels = plan.levels};
    std::copy_n(plan.level_ends, plan.levels, job.level_ends);
    job.pixel = strips.pixel, job.left = plan.left, job.top = window.top + crop_y;
    job.in_down = plan.in_down, job.outputs = plan.outputs;
    const int down = plan.down() * kLanes<W>;
    job.wide = static_cast<unsigned>((to.lines.samples + kTileAcross - 1) / kTileAcross);
    job.high = static_cast<unsigned>((to.lines.rows + down - 1) / down);
    job.planes = static_cast<unsigned>(strips.planes);
    job.settle = settle, job.outside = outside(window);
    const unsigned blocks = job.wide * job.high * job.planes;
    const std::size_t shared = plan.shared_bytes();
    const auto with = [&]<Extreme kExtreme>() {
      const char* name = "window_tile";
      if (plan.pitch == kTilePitches[0])
        launcher(name, window_tile<Rule, kExtreme, kTilePitches[0]>, blocks, kTileThreads, shared, job);
      else if (plan.pitch == kTilePitches[1])
        launcher(name, window_tile<Rule, kExtreme, kTilePitches[1]>, blocks, kTileThreads, shared, job);
      else if (plan.pitch == kTilePitches[2])
        launcher(name, window_tile<Rule, kExtreme, kTilePitches[2]>, blocks, kTileThreads, shared, job);
      else
        launcher(name, window_tile<Rule, kExtreme, kTilePitches[3]>, blocks, kTileThreads, shared, job);
    };
    window.extreme == Extreme::Minimum ? with.template operator()<Extreme::Minimum>()
                                       : with.template operator()<Extreme::Maximum>();
  }

  void pad(const ImageFormat& seen) {
    const Window& window = pass.windows.front();
    const ImageView padded = packed_view(scratch + device.padded_at_, seen);
    PadJob job{.in = source, .out = pixels_of(padded), .width = seen.width, .height = seen.height};
    job.planes = seen.planes(), job.in_width = device.plan_.format.width,
    job.in_height = device.plan_.format.height;
    crop_x = job.left = std::max(0, -window.left), crop_y = job.top = std::max(0, -window.top);
    job.pixel_bytes = strips.pixel * static_cast<int>(sizeof(S)), job.border = device.plan_.options.border;
    source = job.out;
    const long long pixels = static_cast<long long>(job.width) * job.height * job.planes;
    launcher("pad_image", pad_image, static_cast<unsigned>((pixels + kTermThreads - 1) / kTermThreads),
             kTermThreads, 0, job);
  }

  /// Applies one run of `length` pixels along the rows; rows are cut into equal parts that fit into shared
  /// memory.
  template <Place kFrom, Place kTo, PassResult kResult>
  void rows(const Window& window, int first, int length, int results, unsigned* to, const unsigned* from,
            unsigned outside_word, unsigned next_outside) const {
    RowsJob job{.strips = strips, .image = source, .in = from, .out = to, .first = first, .length = length};
    job.columns = results, job.outside = outside_word, job.next_outside = next_outside;
    const int most =
        static_cast<int>(kLineShared / (2 * sizeof(unsigned))) / strips.pixel - length - 2 * kGroup - 8;
    const int wanted = std::max({3300 / strips.pixel, 4 * length, 64});
    job.segments = std::max(1, (results + std::min(wanted, most) - 1) / std::min(wanted, most));
    job.segment = ((results + job.segments - 1) / job.segments + 3) / 4 * 4;
    job.segments = (results + job.segment - 1) / job.segment;
    job.taken = ((job.segment + length - 1 + 2 * kGroup) * strips.pixel + 8) / 4 * 4;
    const ImageView target = at(pass.to);
    job.target = pixels_of(target), job.source = pixels_of(in);
    job.target_width = device.plan_.format.width, job.target_height = device.plan_.format.height;
    job.crop_x = crop_x, job.crop_y = crop_y;
    job.keeps_alpha = device.plan_.keeps_alpha;
    const auto blocks = static_cast<unsigned>(job.segments) * static_cast<unsigned>(strips.strip) *
                        static_cast<unsigned>(strips.planes);
    const std::size_t shared = 2 * static_cast<std::size_t>(job.taken) * sizeof(unsigned);
    if (window.extreme == Extreme::Minimum)
      launcher("window_rows", window_rows<Rule, Extreme::Minimum, kFrom, kTo, kResult>, blocks, kLineThreads,
               shared, job);
    else
      launcher("window_rows", window_rows<Rule, Extreme::Maximum, kFrom, kTo, kResult>, blocks, kLineThreads,
               shared, job);
  }

  /// Applies a window of any shape, from words to words.
  void shape(const Window& window, const DeviceWindow& placed, const unsigned* from, unsigned* to,
             unsigned next_outside, bool settles) const {
    const bool settle = settles && (Rule::kHeights || (Rule::kFloat && !window.holds_origin));
    if (Rule::kHeights)
      members(window, placed, from, to, next_outside, settle);
    else
      runs(window, placed, from, to, next_outside, settle);
  }

  void launch_terms(const Window& window, const TermsJob& job) const {
    const auto total = static_cast<long long>(strips.words()) * strips.planes;
    const auto blocks = static_cast<unsigned>((total + kTermThreads - 1) / kTermThreads);
    if (window.extreme == Extreme::Minimum)
      launcher("window_terms", window_terms<Rule, Extreme::Minimum>, blocks, kTermThreads, 0, job);
    else
      launcher("window_terms", window_terms<Rule, Extreme::Maximum>, blocks, kTermThreads, 0, job);
  }

  TermsJob terms_job(const Window& window, unsigned* to, unsigned next_outside, bool settle) const {
    TermsJob job{.strips = strips, .table = strips, .out = to, .terms = terms, .settle = settle};
    job.outside = outside(window), job.next_outside = next_outside, job.top = window.top;
    return job;
  }

  void members(const Window& window, const DeviceWindow& placed, const unsigned* from, unsigned* to,
               unsigned next_outside, bool settle) const {
    TermsJob job = terms_job(window, to, next_outside, settle);
    job.in = from, job.left = window.left * strips.pixel;
    job.begin = device.tables_[static_cast<std::size_t>(placed.tables)].terms_begin;
    job.end = device.tables_[static_cast<std::size_t>(placed.tables) + window.tables.size() - 1].terms_end;
    launch_terms(window, job);
  }

  /// Applies a window without heights: for each length of its runs the extremes over that length, for the
  /// image and the positions beside it where runs begin, and then the terms of that length.
  void runs(const Window& window, const DeviceWindow& placed, const unsigned* from, unsigned* to,
            unsigned next_outside, bool settle) const {
    unsigned* wide = words(2);
    bool first = true;
    for (std::size_t t = 0; t < window.tables.size(); ++t) {
      const DeviceTable& table = device.tables_[static_cast<std::size_t>(placed.tables) + t];
      if (table.terms_begin == table.terms_end) continue;
      TermsJob job = terms_job(window, to, next_outside, settle);
      const int length = window.tables[t].length;
      job.table.width = strips.width + window.columns() - length;
      rows<Place::Words, Place::Words, PassResult::Store>(window, window.left, length, job.table.width, wide,
                                                          from, outside(window), outside(window));
      job.in = wide, job.begin = table.terms_begin, job.end = table.terms_end;
      job.first = first, job.last = true, first = false;
      for (std::size_t later = t + 1; later < window.tables.size(); ++later) {
        const DeviceTable& other = device.tables_[static_cast<std::size_t>(placed.tables) + later];
        if (other.terms_begin != other.terms_end) job.last = false;
      }
      launch_terms(window, job);
    }
  }
};

/// Launches the reconstruction of `marker` (which may be `out`) under `mask` into `out`. All views have one
/// format and lie on the device; `state` has reconstruction_state_bytes(), all zero; `blocks` is how many can
/// run at the same time.
template <class Launcher>
void run_reconstruction(ReconstructionMethod method, const ImageView& marker, const ImageView& mask,
                        const ImageView& out, const MorphologyOptions& options, std::byte* state,
                        unsigned blocks, const Launcher& launcher) {
  const ImageFormat& format = out.format;
  const bool planar = format.layout == Layout::Planar, alpha = keeps_alpha(format, options.alpha);
  CutJob cut{.marker = pixels_of(marker), .mask = pixels_of(mask), .result = pixels_of(out)};
  cut.samples = static_cast<int>(format.samples_per_row()), cut.rows = format.height,
  cut.planes = format.planes();
  cut.keeps_alpha = alpha;
  ReconstructJob job{.result = cut.result, .mask = cut.mask, .width = format.width, .height = format.height};
  job.step = planar ? 1 : format.channels, job.channels = alpha ? 3 : format.channels, job.planar = planar;
  job.eight = options.neighbours == Neighbours::Eight;
  job.tiles_x = (format.width + kTileSide - 1) / kTileSide;
  job.tiles_y = (format.height + kTileSide - 1) / kTileSide;
  job.state = reinterpret_cast<unsigned*>(state);
  job.awake = reinterpret_cast<unsigned char*>(state) + kReconstructState * sizeof(unsigned);
  const long long samples = static_cast<long long>(cut.samples) * cut.rows * cut.planes;
  const auto cut_blocks = static_cast<unsigned>((samples + kTermThreads - 1) / kTermThreads);
  const auto needed = static_cast<unsigned>((job.tiles() + 3) / 4);
  with_morphology_sample(format.type, false, [&]<class Rule>() {
    using S = typename Rule::Stored;
    if (method == ReconstructionMethod::Dilation) {
      launcher("cut_marker", cut_marker<S, ReconstructionMethod::Dilation>, cut_blocks, kTermThreads, 0, cut);
      launcher.together("reconstruct_tiles", reconstruct_tiles<S, ReconstructionMethod::Dilation>,
                        std::min(blocks, needed), kReconstructThreads, job);
    } else {
      launcher("cut_marker", cut_marker<S, ReconstructionMethod::Erosion>, cut_blocks, kTermThreads, 0, cut);
      launcher.together("reconstruct_tiles", reconstruct_tiles<S, ReconstructionMethod::Erosion>,
                        std::min(blocks, needed), kReconstructThreads, job);
    }
  });
}

/// Bytes of `state` of run_reconstruction.
inline std::size_t reconstruction_state_bytes(const ImageFormat& format) {
  const auto side = [](int pixels) { return static_cast<std::size_t>((pixels + kTileSide - 1) / kTileSide); };
  return kReconstructState * sizeof(unsigned) +
         2 * side(format.width) * side(format.height) * static_cast<std::size_t>(format.channels);
}

}  // namespace contorno::morphology_cuda
