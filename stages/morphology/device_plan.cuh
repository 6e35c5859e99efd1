// A MorphologyPlan prepared for a device: lists of tables and terms for its windows, the tiles that are used,
// and the layout of scratch memory. run(), which device.cuh defines, takes the launcher as a parameter, so
// that the same sequence of launches runs on a device and, kernel by kernel, in the tests' emulator.
// Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/morphology/plan.h"
#include "stages/morphology/shapes.cuh"
#include "stages/morphology/tile_plan.cuh"

namespace contorno::morphology_cuda {

/// Where the tables and terms of a window begin in the lists of the plan, and its tile.
struct DeviceWindow {
  int tables = 0, terms = 0;
  TilePlan tile;
};

/// Bytes of shared memory that window_rows takes at most.
inline constexpr std::size_t kLineShared = 200 << 10;

inline Pixels pixels_of(const ImageView& image) {
  return {.data = static_cast<char*>(image.data),
          .row = image.row_pitch,
          .plane = image.format.planes() > 1 ? image.plane_pitch : 0,
          .words = reinterpret_cast<std::uintptr_t>(image.data) % 4 == 0 && image.row_pitch % 4 == 0 &&
                   image.plane_pitch % 4 == 0};
}

class DevicePlan {
 public:
  /// A block has at most `most_shared` bytes of shared memory.
  explicit DevicePlan(MorphologyPlan plan, std::size_t most_shared = 227 << 10)
      : plan_(std::move(plan)), most_shared_(most_shared) {
    for (const MorphologyPass& pass : plan_.passes)
      for (const Window& window : pass.windows) add(window);
    place();
  }

  const MorphologyPlan& plan() const { return plan_; }
  const std::vector<TileRuns>& runs() const { return runs_; }
  const std::vector<DeviceTerm>& terms() const { return terms_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }

  /// `runs` and `terms` are copies of the lists, `scratch` has scratch_bytes(), all on the device.
  template <class Launcher>
  void run(const ImageView& in, const ImageView& out, const TileRuns* runs, const DeviceTerm* terms,
           std::byte* scratch, const Launcher& launcher) const {
    std::size_t window = 0;
    for (const MorphologyPass& pass : plan_.passes) {
      with_morphology_sample(plan_.format.type, plan_.raised, [&]<class Rule>() {
        with_pass_result(pass.result, [&]<PassResult kResult>() {
          PassRun<Rule, Launcher> run{*this, pass, window, in, out, runs, terms, scratch, launcher};
          run.template go<kResult>();
        });
      });
      window += pass.windows.size();
    }
  }

 private:
  template <class Rule, class Launcher>
  struct PassRun;

  int lanes() const {
    const std::size_t size = element_size(plan_.format.type);
    return size == 4 ? 1 : static_cast<int>(4 / (plan_.raised ? 2 * size : size));
  }
  bool pads() const {
    return plan_.options.border != MorphologyBorder::Identity &&
           plan_.options.border != MorphologyBorder::Constant;
  }
  /// The image that the windows of a pass read: with a margin around it where the border repeats pixels
  /// (pads()).
  ImageFormat seen_by(const MorphologyPass& pass) const {
    ImageFormat seen = plan_.format;
    if (pads()) {
      const Window& window = pass.windows.front();
      seen.width += std::max(0, -window.left) + std::max(0, window.right);
      seen.height += std::max(0, -window.top) + std::max(0, window.bottom);
    }
    return seen;
  }
  /// Whether all windows of a pass can be applied by tiles. The pass's first window has number `first`.
  bool by_tiles(const MorphologyPass& pass, std::size_t first) const {
    for (std::size_t w = 0; w < pass.windows.size(); ++w)
      if (windows_[first + w].tile.outputs == 0) return false;
    return !plan_.raised;
  }
  /// Bytes from row to row of samples that one kernel leaves for the next.
  std::size_t lines_pitch(const ImageFormat& format) const {
    return (format.samples_per_row() * element_size(format.type) + 15) / 16 * 16;
  }
  Strips strips_of(const ImageFormat& format) const {
    const int count = lanes();
    return {.width = format.width,
            .height = format.height,
            .pixel = plan_.samples_per_pixel(),
            .strip = (format.height + count - 1) / count,
            .planes = format.planes()};
  }
  /// Adds a window to the lists. Terms of a window with heights are single members, those of others are runs.
  void add(const Window& window) {
    const int pixel = plan_.samples_per_pixel();
    DeviceWindow device{.tables = static_cast<int>(tables_.size()), .terms = static_cast<int>(terms_.size())};
    for (std::size_t t = 0; t < window.tables.size(); ++t) {
      const RunTable& from = window.tables[t];
      DeviceTable table;
      table.terms_begin = static_cast<int>(terms_.size());
      for (const RunTerm& term : window.terms) {
        if (static_cast<std::size_t>(term.table) != t) continue;
        const int members = window.raised ? from.length : 1;
        for (int k = 0; k < members; ++k)
          terms_.push_back({(term.shift + k) * pixel, term.row, static_cast<float>(term.add)});
      }
      table.terms_end = static_cast<int>(terms_.size());
      tables_.push_back(table);
    }
    device.tile = plan_tile(window, pixel, pads() ? std::max(0, -window.left) : 0, most_shared_, runs_);
    windows_.push_back(device);
  }
  void place() {
    std::size_t words = 0, wide = 0, padded = 0;
    for (const MorphologyPass& pass : plan_.passes) {
      const ImageFormat seen = seen_by(pass);
      words = std::max(words, strips_of(seen).words() * static_cast<std::size_t>(seen.planes()));
      if (!plan_.raised)
        words = std::max(words, lines_pitch(seen) / sizeof(unsigned) * static_cast<std::size_t>(seen.height) *
                                    static_cast<std::size_t>(seen.planes()));
      if (pads()) padded = std::max(padded, packed_bytes(seen));
      for (const Window& window : pass.windows) {
        ImageFormat wider = seen;
        wider.width += window.columns() - 1;
        wide = std::max(wide, strips_of(wider).words() * static_cast<std::size_t>(seen.planes()));
      }
    }
    words_bytes_ = align_up(words * sizeof(unsigned));
    const std::size_t wide_bytes = align_up(wide * sizeof(unsigned));
    padded_at_ = 2 * words_bytes_ + wide_bytes;
    between_at_ = padded_at_ + padded;
    scratch_bytes_ = between_at_ + (plan_.needs_between() ? packed_bytes(plan_.format) : 0);
  }

  MorphologyPlan plan_;
  std::size_t most_shared_;
  std::vector<DeviceTable> tables_;
  std::vector<DeviceTerm> terms_;
  std::vector<TileRuns> runs_;
  std::vector<DeviceWindow> windows_;
  std::size_t words_bytes_ = 0, padded_at_ = 0, between_at_ = 0, scratch_bytes_ = 0;
};

}  // namespace contorno::morphology_cuda
