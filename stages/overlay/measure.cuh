// The distances of a tile's pixels to the segments of classes, as fields of squared distances in shared
// memory. A few lanes work on each segment, so that all warps have about the same work wherever the segments
// lie. Internal.
#pragma once

#include "stages/overlay/job.cuh"

namespace contorno::overlay_cuda {

inline constexpr unsigned kPaintThreads = 512;
inline constexpr unsigned kPaintWarps = kPaintThreads / 32;
inline constexpr unsigned kTilePixels = kTileSide * kTileSide;

/// A field has the squared distance of each pixel of a tile, as the bits of a float: those of floats that are
/// not negative have the order of the values. The pitch puts a group of columns of kRowLanes rows into
/// different banks.
inline constexpr int kFieldPitch = kTileSide + kGroupColumns;
inline constexpr unsigned kFieldSize = kTileSide * kFieldPitch;
inline constexpr unsigned kFields = 4;  ///< what is measured at once; a class with markers takes two
static_assert(kFieldSize % 4 == 0);

/// So many lanes work on a segment, each on some of the rows. Lines of a few px width reach about as many
/// rows.
inline constexpr unsigned kRowLanes = 8;

/// A segment, the pixels of the tile that it reaches, and its field.
struct alignas(16) Staged {
  OverlaySegment segment;
  std::uint8_t first_row, last_row, first_group, last_group;
  unsigned field;
};

struct PaintShared {
  Staged segments[kPaintThreads];
  unsigned begin[kPaintThreads], end[kPaintThreads];  ///< references of each class
  alignas(16) unsigned fields[kFields * kFieldSize];
  std::uint32_t pixels[kTilePixels];  ///< a byte a channel; each belongs to one thread
};

/// A tile's place on the image.
struct Place {
  int row, column;  ///< row and column in the grid of tiles
  int x, y;         ///< the tile's corner
  int columns, rows;

  __device__ Place(const OverlayGrid& grid, unsigned tile)
      : row(static_cast<int>(tile) / grid.tiles_x),
        column(static_cast<int>(tile) % grid.tiles_x),
        x(column * kTileSide),
        y(row * kTileSide),
        columns(grid.width - x < kTileSide ? grid.width - x : kTileSide),
        rows(grid.height - y < kTileSide ? grid.height - y : kTileSide) {}

  /// Calls f(column, row, number) for this thread's pixels, counted from the tile's corner. A warp works on a
  /// row.
  template <class F>
  __device__ void for_pixels(const F& f) const {
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < kTilePixels; i += kPaintThreads) {
      const int line = static_cast<int>(i / kTileSide), at = static_cast<int>(i % kTileSide);
      if (line < rows && at < columns) f(at, line, i);
    }
  }
};

/// Consecutive classes that are measured together: `first` + [from, to). PaintShared has the classes from
/// `first` on.
struct Round {
  unsigned first, from, to;
  unsigned measured;  ///< how many of them have segments in the tile
};

/// The round that begins with class `from`: as many classes as there are fields for.
__device__ inline Round round_from(const Job& job, const PaintShared& shared, unsigned first, unsigned from,
                                   unsigned classes) {
  const unsigned fields = job.has_markers ? kFields / 2 : kFields;
  Round round{first, from, from, 0};
  for (; round.to < classes; ++round.to) {
    if (shared.begin[round.to] == shared.end[round.to]) continue;
    if (round.measured == fields) break;
    ++round.measured;
  }
  return round;
}

/// Prepares reference `at` of a round in `staged`. `part` 0 is the segment, 1 and 2 are its two ends, for
/// markers.
__device__ inline void stage(const Job& job, const Place& place, const Round& round, unsigned at, int part,
                             PaintShared& shared, Staged& staged) {
  unsigned k = round.from;
  unsigned field = part == 0 ? 0 : kFields / 2;
  for (; shared.end[k] <= at; ++k) field += shared.begin[k] != shared.end[k] ? 1 : 0;
  const unsigned i = job.references[at];
  const FramePoint a = job.points[part == 2 ? i + 1 : i], b = job.points[part == 1 ? i : i + 1];
  const TileWindow window =
      job.grid.window(a, b, job.class_table[round.first + k].pen.reach, place.row, place.column);
  const auto byte = [](int v) { return static_cast<std::uint8_t>(v); };
  staged = {.segment = OverlaySegment(a, b),
            .first_row = 1,
            .last_row = 0,
            .first_group = 1,
            .last_group = 0,
            .field = field};
  if (window.empty()) return;
  staged.first_row = byte(window.rows.low), staged.last_row = byte(window.rows.high);
  staged.first_group = byte(window.groups.low), staged.last_group = byte(window.groups.high);
}

/// Adds the first `count` staged segments to their fields. Called by the whole block.
__device__ inline void measure_staged(const Place& place, unsigned count, PaintShared& shared) {
  constexpr unsigned kAtOnce = 32 / kRowLanes;
  const unsigned among = threadIdx.x % 32 / kRowLanes, lane = threadIdx.x % kRowLanes;
  // The segments that a warp works on are not neighbours, and each begins with another column of its group,
  // so that few of their pixels coincide or lie in the same bank.
  unsigned column[kGroupColumns];
  float x[kGroupColumns];
#pragma unroll
  for (unsigned c = 0; c < kGroupColumns; ++c) {
    column[c] = (c + among) % kGroupColumns;
    x[c] = static_cast<float>(place.x + static_cast<int>(column[c]));
  }
  for (unsigned s = among * kPaintWarps + threadIdx.x / 32; s < count; s += kAtOnce * kPaintWarps) {
    const Staged staged = shared.segments[s];
    for (unsigned row = staged.first_row + lane; row <= staged.last_row; row += kRowLanes) {
      unsigned* const squared = shared.fields + staged.field * kFieldSize + row * kFieldPitch;
      const auto y = static_cast<float>(place.y + static_cast<int>(row));
#pragma unroll 1
      for (int left = staged.first_group * kGroupColumns; left <= staged.last_group * kGroupColumns;
           left += kGroupColumns)
#pragma unroll
        for (unsigned c = 0; c < kGroupColumns; ++c) {
          const float d = staged.segment.squared_distance(x[c] + static_cast<float>(left), y);
          atomicMin(squared + left + column[c], std::bit_cast<unsigned>(d));
        }
    }
  }
}

/// Sets the first `count` fields to kUnreached. Called by the whole block.
__device__ inline void clear_fields(unsigned* fields, unsigned count) {
  const auto far = std::bit_cast<unsigned>(kUnreached);
  for (unsigned i = threadIdx.x; i < count * (kFieldSize / 4); i += kPaintThreads)
    reinterpret_cast<uint4*>(fields)[i] = {far, far, far, far};
}

/// Computes the fields of a round: one for each class that has segments, in their order. Called by the whole
/// block.
__device__ inline void measure(const Job& job, const Place& place, const Round& round, PaintShared& shared) {
  if (round.measured == 0) return;
  const unsigned from = shared.begin[round.from], to = shared.end[round.to - 1];
  if (round.from > 0) __syncthreads();  // before what was read in the last round is written over
  clear_fields(shared.fields, round.measured);
  if (job.has_markers) clear_fields(shared.fields + kFields / 2 * kFieldSize, round.measured);
  const int parts = job.has_markers ? 3 : 1;
  for (int part = 0; part < parts; ++part)
    for (unsigned first = from; first < to; first += kPaintThreads) {
      const unsigned count = to - first < kPaintThreads ? to - first : kPaintThreads;
      if (threadIdx.x < count)
        stage(job, place, round, first + threadIdx.x, part, shared, shared.segments[threadIdx.x]);
      __syncthreads();
      measure_staged(place, count, shared);
      __syncthreads();
    }
}

}  // namespace contorno::overlay_cuda
