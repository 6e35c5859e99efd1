// The kernel that draws: a block a tile, a thread four pixels of a row, which stay in registers from the load
// to the store. Where something may be drawn everywhere it makes the copy of the frame as well; otherwise the
// frame was copied before, and only the tiles that are touched are painted.
#pragma once

#include "stages/overlay_kernels.cuh"

namespace contorno::overlay_cuda {

/// A segment in shared memory, with the pixels of the tile that it is measured at.
struct Staged {
  float x, y, dx, dy, inverse;
  unsigned window;  ///< rows from and to, groups from and to, a byte each; from > to: none
};

struct PaintShared {
  Staged segments[kThreads];
  unsigned begin[kThreads], end[kThreads];  ///< of classes, in the list
};

inline constexpr unsigned kNoWindow = 0x00010001U;  // from 1 to 0

__device__ inline Staged stage(const OverlayGrid& grid, FramePoint a, FramePoint b, float reach, int tile_row,
                               int tile_column) {
  const TileWindow window = grid.window(a, b, reach, tile_row, tile_column);
  const OverlaySegment segment(a, b);
  const auto byte = [](int v, unsigned place) { return static_cast<unsigned>(v) << (8 * place); };
  return {segment.x,
          segment.y,
          segment.dx,
          segment.dy,
          segment.inverse,
          window.empty() ? kNoWindow
                         : byte(window.rows.low, 0) | byte(window.rows.high, 1) | byte(window.groups.low, 2) |
                               byte(window.groups.high, 3)};
}

__device__ inline bool measured_at(unsigned window, unsigned line, unsigned group) {
  return line >= (window & 255U) && line <= (window >> 8U & 255U) && group >= (window >> 16U & 255U) &&
         group <= window >> 24U;
}

/// The pixels of one thread.
template <int kChannels>
struct Quad {
  std::uint8_t pixel[kGroupColumns][4];
  float squared[kGroupColumns], dot[kGroupColumns];

  __device__ void load(const unsigned char* at, int columns, bool words) {
    if (words && columns == kGroupColumns) {
      unsigned word[kChannels];
      if constexpr (kChannels == 4) {
        const uint4 all = *reinterpret_cast<const uint4*>(at);
        word[0] = all.x, word[1] = all.y, word[2] = all.z, word[3] = all.w;
      } else {
        for (int i = 0; i < kChannels; ++i) word[i] = reinterpret_cast<const unsigned*>(at)[i];
      }
      for (int i = 0; i < kGroupColumns * kChannels; ++i)
        pixel[i / kChannels][i % kChannels] = static_cast<std::uint8_t>(word[i / 4] >> (8 * (i % 4)));
      return;
    }
    for (int i = 0; i < kGroupColumns; ++i)
      for (int c = 0; c < kChannels; ++c) pixel[i][c] = i < columns ? at[i * kChannels + c] : std::uint8_t{0};
  }

  __device__ void store(unsigned char* at, int columns, bool words) const {
    if (words && columns == kGroupColumns) {
      unsigned word[kChannels];
      for (int i = 0; i < kChannels; ++i) word[i] = 0;
      for (int i = 0; i < kGroupColumns * kChannels; ++i)
        word[i / 4] |= static_cast<unsigned>(pixel[i / kChannels][i % kChannels]) << (8 * (i % 4));
      if constexpr (kChannels == 4)
        *reinterpret_cast<uint4*>(at) = {word[0], word[1], word[2], word[3]};
      else
        for (int i = 0; i < kChannels; ++i) reinterpret_cast<unsigned*>(at)[i] = word[i];
      return;
    }
    for (int i = 0; i < kGroupColumns; ++i)
      for (int c = 0; c < kChannels; ++c)
        if (i < columns) at[i * kChannels + c] = pixel[i][c];
  }
};

/// Where a thread's pixels lie.
struct Place {
  int tile_row, tile_column, x, y, columns;  ///< columns: how many of the four are on the image
  unsigned line, group;

  __device__ Place(const OverlayGrid& grid, unsigned tile, unsigned thread)
      : tile_row(static_cast<int>(tile) / grid.tiles_x),
        tile_column(static_cast<int>(tile) % grid.tiles_x),
        line(thread / kGroups),
        group(thread % kGroups) {
    x = tile_column * kTileSide + static_cast<int>(group) * kGroupColumns;
    y = tile_row * kTileSide + static_cast<int>(line);
    const int left = grid.width - x;
    columns = y >= grid.height || left < 0 ? 0 : (left < kGroupColumns ? left : kGroupColumns);
  }
};

/// A warp: least squared distances to the staged segments [from, to). Its lanes first look which of 32
/// segments come near the warp's rows; only those are measured, since most pass by.
__device__ inline void measure_staged(const Place& place, const PaintShared& shared, unsigned from,
                                      unsigned to, float* squared) {
  constexpr unsigned kLines = 32 / kGroups;
  const unsigned lane = threadIdx.x % 32, first_line = threadIdx.x / 32 * kLines;
  for (unsigned first = from; first < to; first += 32) {
    const unsigned window = first + lane < to ? shared.segments[first + lane].window : kNoWindow;
    const unsigned low = window & 255U, high = window >> 8U & 255U;
    unsigned near = __ballot_sync(~0U, low <= high && low < first_line + kLines && high >= first_line);
    for (; near != 0; near &= near - 1) {
      const Staged staged = shared.segments[first + static_cast<unsigned>(__ffs(near)) - 1];
      if (!measured_at(staged.window, place.line, place.group)) continue;
      OverlaySegment segment({staged.x, staged.y}, {staged.x, staged.y});
      segment.dx = staged.dx, segment.dy = staged.dy, segment.inverse = staged.inverse;
      for (int p = 0; p < kGroupColumns; ++p) {
        const float d =
            segment.squared_distance(static_cast<float>(place.x + p), static_cast<float>(place.y));
        squared[p] = d < squared[p] ? d : squared[p];
      }
    }
  }
}

/// The block: least squared distances to the segments [from, to) of the list. `part`: 0 measures the
/// segments, 1 and 2 their ends.
__device__ inline void measure(const Job& job, const Place& place, unsigned from, unsigned to, float reach,
                               int part, float* squared, PaintShared& shared) {
  for (unsigned first = from; first < to; first += kThreads) {
    const unsigned count = to - first < kThreads ? to - first : kThreads;
    __syncthreads();  // before what was read in the last round is written over
    if (threadIdx.x < count) {
      const unsigned i = job.references[first + threadIdx.x];
      const FramePoint a = job.points[part == 2 ? i + 1 : i], b = job.points[part == 1 ? i : i + 1];
      shared.segments[threadIdx.x] = stage(job.grid, a, b, reach, place.tile_row, place.tile_column);
    }
    __syncthreads();
    measure_staged(place, shared, 0, count, squared);
  }
}

/// The block: stages the segments of all classes of a tile, which lie one behind the other in the list, so
/// that their latency is paid once. Whether they were few enough.
__device__ inline bool stage_all(const Job& job, const Place& place, unsigned first_class, unsigned classes,
                                 PaintShared& shared) {
  const unsigned from = shared.begin[0], to = shared.end[classes - 1];
  if (to - from > kThreads) return false;
  if (threadIdx.x < to - from) {
    const unsigned at = from + threadIdx.x;
    unsigned k = 0;
    while (shared.end[k] <= at) ++k;
    const unsigned i = job.references[at];
    shared.segments[threadIdx.x] =
        stage(job.grid, job.points[i], job.points[i + 1], job.class_table[first_class + k].pen.reach,
              place.tile_row, place.tile_column);
  }
  __syncthreads();
  return true;
}

template <int kChannels>
__device__ void paint_class(const Job& job, const Place& place, const Class& a_class, unsigned from,
                            unsigned to, bool staged, Quad<kChannels>& quad, PaintShared& shared) {
  const OverlayPen pen = a_class.pen;
  for (int p = 0; p < kGroupColumns; ++p) quad.squared[p] = quad.dot[p] = kFar;
  if (staged)
    measure_staged(place, shared, from - shared.begin[0], to - shared.begin[0], quad.squared);
  else
    measure(job, place, from, to, pen.reach, 0, quad.squared, shared);
  if (pen.marker > 0.0F) {
    measure(job, place, from, to, pen.reach, 1, quad.dot, shared);
    measure(job, place, from, to, pen.reach, 2, quad.dot, shared);
  }
  unsigned bits = 0;
  if (a_class.slot >= 0 && place.columns > 0)
    bits = job.inside_row(a_class.slot, place.y)[place.tile_column] >> (place.group * kGroupColumns);
  for (int p = 0; p < kGroupColumns; ++p) {
    const bool inside = (bits >> static_cast<unsigned>(p) & 1U) != 0;
    if (quad.squared[p] < pen.squared_reach || quad.dot[p] < pen.squared_reach)
      pen(quad.pixel[p], quad.squared[p], quad.dot[p], inside);
    else if (inside)
      blend_pixel(quad.pixel[p], pen.line, pen.fill);
  }
}

/// The block: all classes, kThreads of them at a time.
template <int kChannels>
__device__ void paint_classes(const Job& job, unsigned tile, const Place& place, Quad<kChannels>& quad,
                              PaintShared& shared) {
  const auto classes = static_cast<unsigned>(job.classes);
  for (unsigned first = 0; first < classes; first += kThreads) {
    const unsigned mine = first + threadIdx.x;
    unsigned count = 0;
    __syncthreads();
    if (mine < classes) {
      const std::size_t bin = static_cast<std::size_t>(tile) * classes + mine;
      count = job.bin_count[bin];
      shared.end[threadIdx.x] = job.bin_end[bin];
      shared.begin[threadIdx.x] = shared.end[threadIdx.x] - count;
    }
    if (__syncthreads_or(count != 0) == 0 && job.filled == 0) continue;
    const unsigned last = classes - first < kThreads ? classes - first : kThreads;
    // Markers stage other segments in between.
    const bool staged = !job.has_markers && stage_all(job, place, first, last, shared);
    for (unsigned k = 0; k < last; ++k) {
      const Class& a_class = job.class_table[first + k];
      const unsigned from = shared.begin[k], to = shared.end[k];
      if (from != to || a_class.slot >= 0) paint_class(job, place, a_class, from, to, staged, quad, shared);
    }
  }
}

template <int kChannels>
__device__ void paint_stamp(const Job& job, const Place& place, const PlacedStamp& stamp,
                            Quad<kChannels>& quad) {
  const Picture picture = job.pictures[stamp.stamp];
  const int line = place.y - stamp.y;
  if (line < 0 || line >= picture.size.height) return;
  if (place.x + kGroupColumns <= stamp.x || place.x >= stamp.x + picture.size.width) return;
  const Colour* row = job.pixels + picture.first + static_cast<std::ptrdiff_t>(line) * picture.size.width;
  for (int p = 0; p < kGroupColumns; ++p) {
    const int column = place.x + p - stamp.x;
    if (column < 0 || column >= picture.size.width) continue;
    const Colour colour = row[column];
    if (colour.alpha != 0) blend_pixel(quad.pixel[p], colour, colour.alpha);
  }
}

/// Numbers of contours, right-aligned in the legend.
template <int kChannels>
__device__ void paint_counts(const Job& job, const Place& place, Quad<kChannels>& quad) {
  for (int k = 0; k < job.classes; ++k) {
    const FramePoint end = job.class_table[k].count_end;
    if (end.x < 0) continue;
    unsigned number = job.class_begin[k + 1] - job.class_begin[k];
    int x = static_cast<int>(end.x);
    do {
      const int digit = job.first_digit + static_cast<int>(number % 10);
      x -= job.pictures[digit].size.width;
      paint_stamp(job, place, {x, static_cast<int>(end.y), digit}, quad);
      number /= 10;
    } while (number != 0);
  }
}

template <int kChannels>
__global__ void __launch_bounds__(kThreads) paint_tiles(const Job job) {
  auto& shared = block_shared<PaintShared>();
  if (!job.all_tiles && blockIdx.x >= *job.touched_count) return;
  const unsigned tile = job.all_tiles ? blockIdx.x : job.touched[blockIdx.x];
  const Place place(job.grid, tile, threadIdx.x);
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(place.x) * kChannels;
  Quad<kChannels> quad;
  if (place.columns > 0) quad.load(job.in + place.y * job.in_pitch + at, place.columns, job.words);
  if (job.drawable()) {
    paint_classes(job, tile, place, quad, shared);
    if (place.columns > 0) {
      const int labels = job.labels > 0 ? *job.placed_count : 0;
      for (int i = 0; i < labels; ++i) paint_stamp(job, place, job.placed[i], quad);
      if (job.has_legend) paint_stamp(job, place, job.legend, quad);
      if (job.first_digit >= 0) paint_counts(job, place, quad);
    }
  }
  if (place.columns > 0) quad.store(job.out + place.y * job.out_pitch + at, place.columns, job.words);
}

}  // namespace contorno::overlay_cuda
