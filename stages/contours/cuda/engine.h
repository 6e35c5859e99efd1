// The CUDA contour engine: maps in device memory become contours in device memory, in the CPU engine's order
// and with its bits (with float64 points, those of scikit-image's find_contours). Plain C++; the kernels are
// in the .cuh files beside it, of which engine.cuh is the overview.
//
// An engine is planned once and owns no device memory but a table of its levels where channels have several:
// the caller gives a workspace of the planned size, one for every frame in flight. `enqueue` enqueues four to
// six launches, more for a map that is still being uploaded and for several levels. It neither allocates nor
// waits, and may be captured in a CUDA graph. After `plan` an engine may be used by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/memory.h"
#include "pipeline/graph/banded_upload.h"
#include "pipeline/value/contours.h"
#include "pipeline/value/image.h"
#include "stages/contours/rules/cell_cases.h"

namespace contorno {

/// A point with float64 coordinates, in samples, for find_contours; aligned so that a device writes it at
/// once.
struct alignas(16) Point64 {
  double row = 0, col = 0;
  bool operator==(const Point64&) const = default;
};

/// Like ContoursView, with float64 points.
struct ContoursView64 {
  ContourCounts* counts = nullptr;
  Point64* points = nullptr;
  std::uint32_t* offsets = nullptr;
  std::uint8_t* closed = nullptr;
  std::uint32_t* class_begin = nullptr;
};

/// A mask in device memory: a byte a sample, the same for all planes; 0 = the sample is not used. Null: all
/// are.
struct MaskView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t row_pitch = 0;
};

struct ContourEngineSpec {
  enum class Points : std::uint8_t { Float32, Float64 };
  /// Plain does without programmatic dependent launches, as devices do that have none. The results are the
  /// same.
  enum class Launches : std::uint8_t { Fastest, Plain };

  ImageFormat map{};             ///< channels = number of planes, each with its own contours
  double divisor = 1;            ///< stored integers stand for v / divisor (255 for uint8 probabilities)
  std::vector<double> levels{};  ///< in units of the values; plane k uses levels[k % size]
  /// How many of `levels` each channel has, one channel after the other, where a map is searched at several
  /// levels. A plane is then a channel at a level, in the order of `levels`, and class_begin has one element
  /// more than there are planes. Empty: each channel is a plane.
  std::vector<int> channel_levels{};
  Connectivity connectivity = Connectivity::Low;
  Orientation orientation = Orientation::Low;
  unsigned min_points = 0;  ///< contours with fewer are left out
  Points points = Points::Float32;
  Launches launches = Launches::Fastest;
  std::uint64_t point_capacity = 0, contour_capacity = 0;
  /// Maps of at most this many tiles of 64 x 32 cells, over all planes, are traced by a block a tile, all at
  /// the same time; so are bands of a larger map with no more tiles. The results do not depend on it; tests
  /// try both ways.
  int small_tiles = 528;
  /// Up to so many contours of a large map (at most 4096) are numbered without a scan. The results do not
  /// depend on it; tests try both ways.
  unsigned few_contours = 4096;
  std::size_t planes() const {
    return channel_levels.empty() ? static_cast<std::size_t>(map.channels) : levels.size();
  }
  bool operator==(const ContourEngineSpec&) const = default;
};

/// The device on which an engine was planned, as far as launches depend on it.
struct ContourEngineDevice {
  unsigned processors = 0;  ///< multiprocessors
  unsigned warps = 0;       ///< warps of a block of trace_warps
  bool overlaps = false;    ///< launches are programmatic dependent ones; not with Launches::Plain
};

class CudaContourEngine {
 public:
  /// Throws Error(BadConfig) when the maps are too large or the levels too many. Returns the bytes of one
  /// workspace.
  std::size_t plan(const ContourEngineSpec& spec);

  /// Enqueues on `stream` the clearing of the part of a workspace that must be zero before its first frame.
  /// Needed once for a workspace that does not begin as zeros, and again after a device error.
  void prepare(void* workspace, void* stream) const;

  /// `map`, `workspace` and `out` are device memory; `map` and `out` must not change until the work is done.
  /// When a count is over its capacity, nothing was written past the end and the count is at least as large
  /// as what is needed to get further (exact, unless the workspace itself was too small).
  void enqueue(const ImageView& map, const MaskView& mask, void* workspace, const ContoursView& out,
               void* stream) const;
  void enqueue(const ImageView& map, const MaskView& mask, void* workspace, const ContoursView64& out,
               void* stream) const;

  /// Enqueues the work while the map arrives and the contours leave. `upload` (null: the map has arrived)
  /// brings `map` to the device and was begun on `stream`: bands are worked on as they arrive, and work that
  /// is enqueued on `stream` after this finds the whole map. `host` (null: the contours stay on the device)
  /// gets the contours that exist, those of complete planes while others are being made; its arrays lie in
  /// page-locked memory, aligned to kAlignment. When a count is over its capacity only the counts are valid.
  /// `traced`, if any, is called when steps 1 to 6 (engine.cuh) of the last band have been enqueued.
  void enqueue(const ImageView& map, BandedUpload* upload, const MaskView& mask, void* workspace,
               const ContoursView& out, const ContoursView* host, void* stream,
               const std::function<void()>& traced = {}) const;

  /// Enqueues the work for the classes of a graph, of which channel k is class k: `plane_begin`, device
  /// memory for spec().planes() + 1 numbers, gets where planes begin, and `out` where classes begin and, if
  /// it has the column, the level of each contour. `traced` is called for the last group of levels.
  void enqueue_classes(const ImageView& map, void* workspace, std::uint32_t* plane_begin,
                       const ContoursView& out, void* stream, const std::function<void()>& traced = {}) const;

  const ContourEngineSpec& spec() const { return spec_; }

 private:
  ContourEngineSpec spec_;
  ContourEngineDevice device_;
  Block levels_;  ///< only where channels have several
};

}  // namespace contorno
