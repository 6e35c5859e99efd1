// The CUDA contour engine: maps in device memory become assembled, exactly ordered contours in device memory
// (the same bits as the CPU engine and, with float64 points, as scikit-image's find_contours). Plain C++; the
// kernels are in the .cuh files beside it. An engine is planned once and owns no device memory: the caller
// gives a workspace of the planned size, one for every frame in flight. `enqueue` only enqueues (three to
// seven launches, more for a map that is still on its way; no allocation, no wait) and may be captured in a
// CUDA graph. After `plan` it may be used by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/graph/banded_upload.h"
#include "pipeline/value/contours.h"
#include "pipeline/value/image.h"
#include "stages/contours/rules/cell_cases.h"

namespace contorno {

/// float64 points, for find_contours.
struct Point64 {
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

/// A byte a sample, shared by all planes; 0 = the sample does not count.
struct MaskView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t row_pitch = 0;
};

struct ContourEngineSpec {
  enum class Points : std::uint8_t { Float32, Float64 };
  /// Plain: without clusters and overlapping launches, as on devices that have neither. The same results.
  enum class Launches : std::uint8_t { Fastest, Plain };

  ImageFormat map;             ///< channels = number of planes, each with its own contours
  double divisor = 1;          ///< stored integers stand for v / divisor (255 for uint8 probabilities)
  std::vector<double> levels;  ///< in units of the values; plane k uses levels[k % size]
  Connectivity connectivity = Connectivity::Low;
  Orientation orientation = Orientation::Low;
  unsigned min_points = 0;  ///< contours with fewer are left out
  Points points = Points::Float32;
  Launches launches = Launches::Fastest;
  std::uint64_t point_capacity = 0, contour_capacity = 0;
  /// Maps of at most this many tiles of 64 x 32 cells, over all planes, go the way of small maps: all their
  /// tiles run at the same time, and so do those of a band that has no more. The same results; tests try both
  /// ways.
  int small_tiles = 528;
  /// Up to so many contours of a large map (4096 at most) are numbered without a scan. The same results;
  /// tests try both ways.
  unsigned few_contours = 4096;
  bool operator==(const ContourEngineSpec&) const = default;
};

/// The device on which an engine was planned, as it is launched there.
struct ContourEngineDevice {
  unsigned processors = 0;  ///< multiprocessors
  unsigned cluster =
      0;  ///< blocks of the cluster that joins small maps; 0: no clusters, no overlapping launches
  unsigned warps = 0;  ///< of a block of trace_tiles
};

class CudaContourEngine {
 public:
  /// Throws Error(BadConfig) when the maps are too large or the levels too many. Returns the bytes of one
  /// workspace.
  std::size_t plan(const ContourEngineSpec& spec);

  /// Clears what of a workspace must be zero before the first frame: once for a new one that does not begin
  /// as zeros, and again after a device error; ordered before the first `enqueue` on `stream`.
  void prepare(void* workspace, void* stream) const;

  /// `map`, `workspace` and `out` are device memory; `map` and `out` must not change until the work is done.
  /// When a count is over its capacity, nothing was written past the end and the count is at least as large
  /// as what is needed to get further (exact, unless the workspace itself was too small).
  void enqueue(const ImageView& map, const MaskView& mask, void* workspace, const ContoursView& out,
               void* stream) const;
  void enqueue(const ImageView& map, const MaskView& mask, void* workspace, const ContoursView64& out,
               void* stream) const;

  /// The same, and brings the contours to `host`, whose arrays lie in page-locked memory (kAlignment): as
  /// many as exist. When a count is over its capacity only the counts are of use. `upload` (null: the map is
  /// there) brings `map` to the device, begun on `stream`: what can be done with the bands that have come is
  /// done while the others come, and planes that are complete go to the host. In a stream's order all of the
  /// map is there behind this.
  void enqueue_to_host(const ImageView& map, BandedUpload* upload, const MaskView& mask, void* workspace,
                       const ContoursView& out, const ContoursView& host, void* stream) const;

  const ContourEngineSpec& spec() const { return spec_; }

 private:
  ContourEngineSpec spec_;
  ContourEngineDevice device_;
};

}  // namespace contorno
