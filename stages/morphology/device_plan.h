// A MorphologyPlan prepared for a device: what its windows look like to the kernels, and the layout of
// scratch memory. Made on the host when a stage is planned; device.cuh launches the kernels that follow it.
// Internal.
#pragma once

#include <vector>

#include "stages/morphology/plan.h"
#include "stages/morphology/tile_plan.h"

namespace contorno::morphology_cuda {

/// How an image lies in words: lane `lane` of the word at sample x of row `row` is sample x of image row row
/// + lane * strip.
struct Strips {
  int width = 0, height = 0, pixel = 1;  ///< the image's size in pixels; samples a pixel
  int strip = 0;                         ///< rows of words
  int planes = 1;

  CONTORNO_HD int samples() const { return width * pixel; }
  CONTORNO_HD std::size_t words() const {
    return static_cast<std::size_t>(samples()) * static_cast<std::size_t>(strip);
  }
};

/// A run or a single member, for window_terms: its distance from the window's upper left corner, in words and
/// rows, and its height.
struct DeviceTerm {
  int shift = 0, row = 0;
  float add = 0;
};

/// The terms [begin, end) that use one table of runs.
struct DeviceTable {
  int begin = 0, end = 0;
};

/// A window's tile, and the number of its first table.
struct DeviceWindow {
  TilePlan tile;
  std::size_t tables = 0;
};

class DevicePlan {
 public:
  /// A block has at most `most_shared` bytes of shared memory.
  explicit DevicePlan(MorphologyPlan plan, std::size_t most_shared = 227 << 10);

  const MorphologyPlan& plan() const { return plan_; }
  std::size_t most_shared() const { return most_shared_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// Lists that the kernels read.
  const std::vector<TileRuns>& runs() const { return runs_; }
  const std::vector<DeviceTerm>& terms() const { return terms_; }

  /// Whether an image with a margin around it is made first, because the border repeats pixels.
  bool pads() const;
  /// The image that the windows of a pass read: with that margin, if there is one.
  ImageFormat seen_by(const MorphologyPass& pass) const;
  Strips strips_of(const ImageFormat& format) const;
  /// Bytes from row to row of samples that one kernel leaves for the next.
  std::size_t lines_pitch(const ImageFormat& format) const;

  /// Windows are numbered through all passes; the first one of a pass has the number `first`.
  const DeviceWindow& window(std::size_t number) const { return windows_[number]; }
  const DeviceTable& table(const DeviceWindow& window, std::size_t number) const {
    return tables_[window.tables + number];
  }
  /// Whether all windows of a pass can be applied by tiles.
  bool by_tiles(const MorphologyPass& pass, std::size_t first) const;

  // Where things lie in scratch memory: three arrays of words, the image with its margin, and the image
  // between two passes.
  std::size_t words_at(std::size_t which) const { return which * words_bytes_; }
  std::size_t padded_at() const { return padded_at_; }
  std::size_t between_at() const { return between_at_; }

 private:
  int lanes() const;
  void add(const Window& window);
  void place();

  MorphologyPlan plan_;
  std::size_t most_shared_;
  std::vector<DeviceTable> tables_;
  std::vector<DeviceTerm> terms_;
  std::vector<TileRuns> runs_;
  std::vector<DeviceWindow> windows_;
  std::size_t words_bytes_ = 0, padded_at_ = 0, between_at_ = 0, scratch_bytes_ = 0;
};

}  // namespace contorno::morphology_cuda
