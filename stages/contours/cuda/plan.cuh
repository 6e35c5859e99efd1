// What the host computes for the contour engine: sizes, the limits of a job, and where the arrays of a
// workspace lie.
#pragma once

#include <algorithm>
#include <string>

#include "cuda/error.h"
#include "cuda/memory.h"
#include "pipeline/graph/banded_upload.h"
#include "stages/contours/cuda/engine.h"
#include "stages/contours/cuda/join.cuh"
#include "stages/contours/cuda/number.cuh"
#include "stages/contours/cuda/place.cuh"
#include "stages/contours/cuda/trace.cuh"
#include "stages/contours/rules/level_test.h"

namespace contorno::contour_engine {

/// The number that stored samples are compared with, for a level: those above it are high. Not used for
/// float64.
inline float threshold_of(const ContourEngineSpec& spec, double level) {
  switch (spec.map.type) {
    case ElementType::U8:
      return static_cast<float>(highest_low(255, {spec.divisor}, level));
    case ElementType::U16:
      return static_cast<float>(highest_low(65535, {spec.divisor}, level));
    case ElementType::F16:
    case ElementType::F32:
      return highest_low<float>(level);
    case ElementType::F64:
      break;
  }
  return 0;
}

/// Number of tiles that own slots (see slot_owner).
template <class P>
std::size_t slot_owners(const Job<P>& job) {
  return static_cast<std::size_t>(job.planes) * static_cast<std::size_t>(job.tiles_y + 1) *
         static_cast<std::size_t>(job.tiles_x + 1);
}

/// Blocks of number_by_scan, for the job's planes.
template <class P>
unsigned scan_blocks(const Job<P>& job) {
  const std::uint64_t units = static_cast<std::uint64_t>(job.planes) *
                              static_cast<std::uint64_t>(job.cell_rows) *
                              static_cast<std::uint64_t>(job.tiles_x);
  return static_cast<unsigned>(std::max<std::uint64_t>((units + kScanThreads - 1) / kScanThreads, 1));
}

/// A job without pointers. Throws Error(BadConfig) when the engine cannot take such maps.
template <class P>
Job<P> plan_job(const ContourEngineSpec& spec) {
  const ImageFormat& map = spec.map;
  const auto refuse = [](const std::string& what) {
    throw Error(ExitCode::BadConfig, "contour engine: " + what);
  };
  if (map.width < 1 || map.height < 1 || map.channels < 1 || map.width > kMaxSide || map.height > kMaxSide)
    refuse("a map of " + describe(map) + " was given; sides from 1 to " + std::to_string(kMaxSide) +
           " are allowed");
  if (spec.levels.empty() || spec.levels.size() > kMaxLevels)
    refuse(std::to_string(spec.levels.size()) + " levels were given, allowed are 1 to " +
           std::to_string(kMaxLevels));
  Job<P> job{};
  job.planes = map.channels;
  job.cell_rows = map.height - 1;
  job.cell_columns = map.width - 1;
  job.tiles_x = (job.cell_columns + kTileColumns - 1) / kTileColumns;
  job.tiles_y = (job.cell_rows + kTileRows - 1) / kTileRows;
  job.by_tiles_x = fast_divide(static_cast<unsigned>(job.tiles_x));
  job.by_tiles_y = fast_divide(static_cast<unsigned>(job.tiles_y));
  const std::uint64_t segments = 2ULL * static_cast<std::uint64_t>(job.cell_rows) *
                                 static_cast<std::uint64_t>(job.cell_columns) *
                                 static_cast<std::uint64_t>(job.planes);
  const std::uint64_t tiles = static_cast<std::uint64_t>(job.planes) *
                              static_cast<std::uint64_t>(job.tiles_y) *
                              static_cast<std::uint64_t>(job.tiles_x);
  if (segments >= 1ULL << 31)
    refuse("a map of " + describe(map) + " was given; at most 2^30 cells, over all classes, are allowed");
  if (slot_owners(job) * kTileSlots >= kInSlot)
    refuse("a map of " + describe(map) + " was given; it has too many classes or too many thin tiles");
  job.connect_high = spec.connectivity == Connectivity::High ? 1 : 0;
  job.reverse = spec.orientation == Orientation::High ? 1 : 0;
  job.min_points = spec.min_points;
  job.point_capacity = std::min<std::uint64_t>(spec.point_capacity, 0xFFFFFFFFULL);
  job.contour_capacity = std::min<std::uint64_t>(spec.contour_capacity, 0x7FFFFFFFULL);
  job.segment_capacity =
      static_cast<unsigned>(std::min(job.point_capacity, static_cast<unsigned long long>(segments)));
  job.piece_capacity = static_cast<unsigned>(
      std::min<std::uint64_t>(job.segment_capacity, job.contour_capacity + 2ULL * kTileEdges * tiles));
  job.few_heads = std::min(spec.few_contours, kMostHeads);
  job.scan_blocks = scan_blocks(job);
  job.last_planes = 1;
  job.levels = static_cast<int>(spec.levels.size());
  std::copy(spec.levels.begin(), spec.levels.end(), job.level);
  for (std::size_t k = 0; k < spec.levels.size(); ++k) job.threshold[k] = threshold_of(spec, spec.levels[k]);
  return job;
}

/// The work for one band of the map: these rows of tiles can be traced. `completes`: the band is the last one
/// of its planes, so that they can be assembled.
struct Part {
  int plane, planes;
  int first_row, rows;  ///< of tiles
  bool completes;
};

template <class P>
Part part_of(const Job<P>& whole, const ImageBand& band) {
  const int height = whole.cell_rows + 1;
  // A tile reads two rows of samples of the next tile: the one that they share, and one more (is_blocked).
  const auto complete_rows = [&](int samples) {
    return samples == height ? whole.tiles_y : std::max(0, samples - 2) / kTileRows;
  };
  const bool interleaved = whole.map.plane_pitch < whole.map.row_pitch;
  const int first = complete_rows(band.begin);
  return {.plane = band.plane,
          .planes = interleaved ? whole.planes : band.planes,
          .first_row = first,
          .rows = complete_rows(band.end) - first,
          .completes = band.end == height};
}

/// The job for the planes of a part, as if the map had no others.
template <class P>
Job<P> job_of(const Job<P>& whole, const Part& part) {
  Job<P> job = whole;
  job.planes = part.planes;
  job.map.data += part.plane * whole.map.plane_pitch;
  job.first_tile = part.first_row * whole.tiles_x;
  job.last_planes = part.plane + part.planes == whole.planes ? 1 : 0;
  job.scan_blocks = scan_blocks(job);
  job.out.class_begin += part.plane;
  for (int k = 0; k < whole.levels; ++k) {
    job.level[k] = whole.level[(part.plane + k) % whole.levels];
    job.threshold[k] = whole.threshold[(part.plane + k) % whole.levels];
  }
  return job;
}

/// Tiles in `rows` rows of all of the job's planes.
template <class P>
int tiles_in(const Job<P>& job, int rows) {
  return job.planes * rows * job.tiles_x;
}

/// Sets the pointers of `job` into the workspace at `base` (may be null) and returns its size. The part that
/// must be zero before the first frame comes first; `clear_bytes` is its size.
template <class P>
std::size_t place_work(Job<P>& job, void* base, std::size_t* clear_bytes = nullptr) {
  std::size_t at = 0;
  const auto take = [&](auto*& pointer, std::size_t count) {
    pointer =
        reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(static_cast<std::byte*>(base) + at);
    at = align_up(at + count * sizeof(*pointer));
  };
  const std::size_t tiles = static_cast<std::size_t>(job.planes) * static_cast<std::size_t>(job.tiles_y) *
                            static_cast<std::size_t>(job.tiles_x);
  const std::size_t pieces = job.piece_capacity;
  Work<P>& work = job.work;
  take(work.counters, 1);
  take(work.scan_status, job.scan_blocks);
  take(work.head_points, pieces);
  if (clear_bytes != nullptr) *clear_bytes = at;
  take(work.tile_bits, tiles);
  take(work.dense_tiles, tiles);
  take(work.tile_pieces, tiles);
  take(work.row_pieces, tiles * (kTileRows + 1));
  take(work.slots, slot_owners(job) * kTileSlots);
  take(work.points, job.segment_capacity);
  take(work.places, job.segment_capacity);
  take(work.pieces, pieces);
  take(work.from, pieces);
  take(work.head_offset, pieces);
  take(work.active, pieces);
  take(work.windows, pieces);
  take(work.chains, pieces);
  take(work.heads, kMostHeads);
  return at;
}

inline Map map_of(const ImageView& view, const MaskView& mask, double divisor = 1) {
  const ImageFormat& format = view.format;
  const auto size = static_cast<long long>(element_size(format.type));
  const bool planar = format.layout == Layout::Planar;
  return {.data = static_cast<const unsigned char*>(view.data),
          .plane_pitch = planar ? view.plane_pitch : size,
          .row_pitch = view.row_pitch,
          .sample_pitch = planar ? size : size * format.channels,
          .mask = mask.data,
          .mask_pitch = mask.row_pitch,
          .width = format.width,
          .height = format.height,
          .divisor = divisor};
}

template <class P, class View>
Output<P> output_of(const View& out) {
  static_assert(sizeof(*out.points) == sizeof(P) && sizeof(ContourCounts) == 16);
  return {.counts = reinterpret_cast<unsigned long long*>(out.counts),
          .points = reinterpret_cast<P*>(out.points),
          .offsets = out.offsets,
          .closed = out.closed,
          .class_begin = out.class_begin};
}

}  // namespace contorno::contour_engine
