// The kernels of overlay that prepare the drawing, in the order in which they run; a list of references to
// segments has a part for each tile and class.
//
//   bin_segments   moves the points onto the frame, counts the segments that reach each tile, and marks where
//                  insides begin and end; where not every tile is painted, other blocks of it copy the frame
//   arrange        gives each tile its part of the list, makes insides of the marks and boxes of the
//   contours,
//                  and counts these for the legend
//   list_segments  fills the list
//
// place_labels (label_kernel.cuh) and paint_tiles (paint.cuh) follow. The references in a part have no order;
// the result does not depend on it, because distances are minima and marks exclusive ors. Numbers of points
// and contours are read on the device.
#pragma once

#include "cuda/sums.cuh"
#include "geometry/ascending.h"
#include "stages/overlay/job.cuh"

namespace contorno::overlay_cuda {

inline constexpr unsigned kCopiedWords = 8;  ///< words of 16 bytes that a thread copies at once

/// Marks where a segment crosses the rows of an inside mask.
__device__ inline void mark_insides(const Job& job, int slot, FramePoint a, FramePoint b) {
  const float low = a.y < b.y ? a.y : b.y, high = a.y < b.y ? b.y : a.y;
  const int from = ceil_to_int(low), to = ceil_to_int(high);
  const int first = from > 0 ? from : 0, end = to < job.grid.height ? to : job.grid.height;
  for (int y = first; y < end; ++y) {
    const int crossing = crossing_column(a, b, y), column = crossing > 0 ? crossing : 0;
    if (column < job.grid.width)
      atomicXor(job.inside_row(slot, y) + column / kTileSide,
                1U << static_cast<unsigned>(column % kTileSide));
  }
}

/// Marks segment i of a filled class if its contour has an inside; with the first segment of an open contour
/// also the line that closes it.
__device__ inline void mark_segment(const Job& job, int slot, unsigned contour, unsigned i, FramePoint a,
                                    FramePoint b) {
  if (job.contours.closed[contour] == 0) {
    const unsigned first = job.contours.offsets[contour], last = job.contours.offsets[contour + 1] - 1;
    const Point begins = job.contours.points[first], ends = job.contours.points[last];
    if (!job.border.closes(begins, ends)) return;
    if (i == first) {
      const OverlayClosing closing = job.border.close(begins, ends);
      for (int part = 0; part + 1 < OverlayClosing::kPoints; ++part)
        mark_insides(job, slot, closing.points[part], closing.points[part + 1]);
    }
  }
  mark_insides(job, slot, a, b);
}

/// Calls visit(bin) for every tile that the segment reaches.
template <class Visit>
__device__ void for_bins(const Job& job, FramePoint a, FramePoint b, unsigned a_class, const Visit& visit) {
  const float reach = job.class_table[a_class].pen.reach;
  const Span rows = job.grid.tile_rows(a, b, reach);
  for (int row = rows.low; row <= rows.high; ++row) {
    const Span columns = job.grid.tile_columns(a, b, row, reach);
    for (int column = columns.low; column <= columns.high; ++column) {
      const auto tile = static_cast<std::size_t>(row) * static_cast<unsigned>(job.grid.tiles_x) +
                        static_cast<unsigned>(column);
      visit(tile * static_cast<unsigned>(job.classes) + a_class);
    }
  }
}

/// Copies the frame; called by `blocks` blocks, of which this one is number `block`.
__device__ inline void copy_frame(const Job& job, unsigned block, unsigned blocks) {
  const auto* const from = reinterpret_cast<const uint4*>(job.in);
  auto* const to = reinterpret_cast<uint4*>(job.out);
  constexpr unsigned long long kBlock = kThreads * kCopiedWords;
  for (unsigned long long first = block * kBlock + threadIdx.x; first < job.frame_words;
       first += blocks * kBlock) {
    uint4 words[kCopiedWords];
#pragma unroll
    for (unsigned k = 0; k < kCopiedWords; ++k)
      if (first + k * kThreads < job.frame_words) words[k] = from[first + k * kThreads];
#pragma unroll
    for (unsigned k = 0; k < kCopiedWords; ++k)
      if (first + k * kThreads < job.frame_words) to[first + k * kThreads] = words[k];
  }
}

/// part_of for whole warps whose lanes have ascending values: the lanes search 32 places at once for the
/// first value, and each continues from there.
__device__ inline unsigned part_of_lane(const unsigned* begin, unsigned count, unsigned value) {
  const unsigned first_value = __shfl_sync(~0U, value, 0), lane = threadIdx.x % 32;
  unsigned low = 0, high = count;  // begin[low] <= first_value < begin[high]
  while (high - low > 1) {
    const unsigned step = (high - low + 31) / 32, at = low + lane * step;
    const unsigned below = __ballot_sync(~0U, at < high && begin[at] <= first_value);
    const unsigned last = 31U - static_cast<unsigned>(__clz(static_cast<int>(below)));
    low += last * step;
    high = low + step < high ? low + step : high;
  }
  while (low + 1 < count && begin[low + 1] <= value) ++low;
  return low;
}

__global__ void __launch_bounds__(kThreads) bin_segments(const Job job) {
  const unsigned point_blocks = gridDim.x - job.copy_blocks;
  if (blockIdx.x >= point_blocks) return copy_frame(job, blockIdx.x - point_blocks, job.copy_blocks);
  if (blockIdx.x == 0 && threadIdx.x == 0) *job.listed = 0, *job.touched_count = 0;
  if (blockIdx.x == 0 && job.counted != nullptr)
    for (auto k = threadIdx.x; k < static_cast<unsigned>(job.classes); k += kThreads) job.counted[k] = 0;
  if (!job.contours.fits()) return;
  const auto points = static_cast<unsigned>(job.contours.counts->points);
  const auto contours = static_cast<unsigned>(job.contours.counts->contours);
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  for (unsigned first = thread - thread % 32; first < points; first += point_blocks * kThreads) {
    const unsigned i = first + thread % 32, last = points - 1;
    // Loaded before the contour is known, to overlap the search.
    const Point begins = job.contours.points[i < last ? i : last],
                ends = job.contours.points[i < last ? i + 1 : last];
    const unsigned contour = part_of_lane(job.contours.offsets, contours, i < last ? i : last);
    if (i >= points) continue;
    const FramePoint a = job.transform(begins);
    job.points[i] = a;
    job.point_class[i] = kNotDrawn;
    if (i + 1 >= job.contours.offsets[contour + 1]) continue;
    const unsigned k = part_of(job.contours.class_begin, static_cast<unsigned>(job.classes), contour);
    const Class& a_class = job.class_table[k];
    if (a_class.pen.hidden) continue;
    job.point_class[i] = k;
    const FramePoint b = job.transform(ends);
    for_bins(job, a, b, k, [&](std::size_t bin) { atomicAdd(job.bin_count + bin, 1U); });
    if (a_class.slot >= 0) mark_segment(job, a_class.slot, contour, i, a, b);
  }
}

__device__ inline bool under_legend(const Job& job, unsigned tile) {
  if (!job.has_legend) return false;
  const StampSize size = job.pictures[job.legend.stamp].size;
  // Counts end inside the legend and grow to the left, by ten digits at most.
  const int digits = job.first_digit >= 0 ? 10 * job.pictures[job.first_digit].size.width : 0;
  const int x = static_cast<int>(tile) % job.grid.tiles_x * kTileSide;
  const int y = static_cast<int>(tile) / job.grid.tiles_x * kTileSide;
  return x < job.legend.x + size.width && x + kTileSide > job.legend.x - digits &&
         y < job.legend.y + size.height && y + kTileSide > job.legend.y;
}

/// Reserves the parts of the list for 32 tiles, and clears their counts. Called by whole warps, with a tile a
/// lane; classes follow each other within a tile. Each warp adds to the counters once, since many atomics on
/// one address wait for each other.
__device__ inline void reserve_tiles(const Job& job, unsigned tile) {
  const bool valid = tile < job.tiles();
  const auto classes = static_cast<unsigned>(job.classes);
  const std::size_t bins = static_cast<std::size_t>(tile) * classes;
  unsigned long long own = 0;
  for (unsigned k = 0; valid && k < classes; ++k) own += job.bin_count[bins + k];
  const unsigned lane = threadIdx.x % 32;
  const unsigned long long end = sum_to_lane(own);
  const bool touched = valid && !job.all_tiles && (own != 0 || under_legend(job, tile));
  const unsigned touching = __ballot_sync(~0U, touched);
  unsigned long long listed = 0;
  unsigned counted = 0;
  if (lane == 31 && end != 0) listed = atomicAdd(job.listed, end);
  if (lane == 31 && touching != 0)
    counted = atomicAdd(job.touched_count, static_cast<unsigned>(__popc(touching)));
  listed = __shfl_sync(~0U, listed, 31), counted = __shfl_sync(~0U, counted, 31);
  if (touched) job.touched[counted + static_cast<unsigned>(__popc(touching & ((1U << lane) - 1U)))] = tile;
  // Beyond the capacity nothing is listed, so that the numbers below need not fit.
  auto at = static_cast<unsigned>(listed + end - own);
  for (unsigned k = 0; valid && k < classes; ++k) {
    const unsigned count = job.bin_count[bins + k];
    job.bin_begin[bins + k] = job.bin_end[bins + k] = at;
    at += count;
    if (count != 0) job.bin_count[bins + k] = 0;
  }
}

/// Turns the marks of a row of pixels into inside bits. Called by whole warps.
__device__ inline void fill_row(const Job& job, unsigned* row) {
  const auto words = static_cast<unsigned>(job.grid.tiles_x);
  const unsigned lane = threadIdx.x % 32;
  unsigned carry = 0;
  for (unsigned first = 0; first < words; first += 32) {
    const unsigned column = first + lane;
    const unsigned bits = column < words ? running_parity(row[column]) : 0U;
    const unsigned odd = __ballot_sync(~0U, (bits >> 31U) != 0);
    const unsigned before = static_cast<unsigned>(__popc(odd & ((1U << lane) - 1U))) & 1U;
    if (column < words) row[column] = bits ^ (0U - (before ^ carry));
    carry ^= static_cast<unsigned>(__popc(odd)) & 1U;
  }
}

/// The bounding box of a contour. Called by whole warps.
__device__ inline LabelBox box_of(const Job& job, unsigned contour) {
  const unsigned from = job.contours.offsets[contour], to = job.contours.offsets[contour + 1];
  if (from >= to) return {};
  const FramePoint start = job.points[from];
  LabelBox box{start.x, start.y, start.x, start.y};
  for (unsigned i = from + threadIdx.x % 32; i < to; i += 32) box.add(job.points[i]);
  for (int step = 16; step > 0; step /= 2) {
    const float left = __shfl_xor_sync(~0U, box.left, step), top = __shfl_xor_sync(~0U, box.top, step);
    const float right = __shfl_xor_sync(~0U, box.right, step),
                bottom = __shfl_xor_sync(~0U, box.bottom, step);
    box.add({left, top});
    box.add({right, bottom});
  }
  return box;
}

__global__ void __launch_bounds__(kThreads) arrange(const Job job) {
  if (!job.contours.fits()) return;
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x, threads = gridDim.x * kThreads;
  for (unsigned first = thread - thread % 32; first < job.tiles(); first += threads)
    reserve_tiles(job, first + thread % 32);
  const auto rows = static_cast<unsigned>(job.filled) * static_cast<unsigned>(job.grid.height);
  for (unsigned row = thread / 32; row < rows; row += threads / 32)
    fill_row(job, job.inside + static_cast<std::size_t>(row) * static_cast<unsigned>(job.grid.tiles_x));
  const auto contours = static_cast<unsigned>(job.contours.counts->contours);
  for (unsigned contour = thread; job.counted != nullptr && contour < contours; contour += threads)
    if (is_counted(job.contours, contour))
      atomicAdd(job.counted + part_of(job.contours.class_begin, static_cast<unsigned>(job.classes), contour),
                1U);
  if (job.labels == 0) return;
  for (unsigned contour = thread / 32; contour < contours; contour += threads / 32) {
    const LabelBox box = is_counted(job.contours, contour) ? box_of(job, contour) : LabelBox{};
    if (threadIdx.x % 32 == 0) job.boxes[contour] = box;
  }
}

__global__ void __launch_bounds__(kThreads) list_segments(const Job job) {
  const bool drawable = job.drawable();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    job.outcome->references_needed = job.contours.fits() ? *job.listed : 0;
  if (!drawable) return;
  const auto points = static_cast<unsigned>(job.contours.counts->points);
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < points; i += gridDim.x * kThreads) {
    const unsigned k = job.point_class[i];
    const FramePoint a = job.points[i], b = job.points[i + 1 < points ? i + 1 : i];
    if (k == kNotDrawn) continue;
    for_bins(job, a, b, k, [&](std::size_t bin) { job.references[atomicAdd(job.bin_end + bin, 1U)] = i; });
  }
}

}  // namespace contorno::overlay_cuda
