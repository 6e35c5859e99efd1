// number_contours and place_points: the last two kernels.
//
// number_contours: a scan over (plane, row, tile) in raster order, each with the pieces whose first segment
//   lies there; those with head_points are contours. Every block waits for the sums of all blocks before it.
//   Reads tile_pieces, row_pieces, head_points; writes offsets, closed, class_begin, counts, head_offset.
// place_points: one thread a segment. Reads places, points, pieces, head_offset; writes the points. Its last
//   block clears the counters for the next frame.
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanUnits = 4;  ///< (row, tile) pairs a thread
inline constexpr int kPlaceThreads = 256;
inline constexpr unsigned long long kReady = 1ULL << 63;

struct ScanShared {
  unsigned long long warp_sum[kScanThreads / 32];
  unsigned long long before;
  unsigned long long previous[kScanThreads / 32];
};

/// (contours << 32 | points); the points of a frame are below 2^32, its contours below 2^31.
template <class P>
__device__ __forceinline__ void row_range(const Job<P>& job, unsigned unit, unsigned& begin, unsigned& end) {
  const unsigned tile_x = unit % static_cast<unsigned>(job.tiles_x);
  const unsigned row = unit / static_cast<unsigned>(job.tiles_x);
  const unsigned plane = row / static_cast<unsigned>(job.cell_rows);
  const unsigned plane_row = row % static_cast<unsigned>(job.cell_rows);
  const unsigned tile =
      (plane * static_cast<unsigned>(job.tiles_y) + plane_row / kTileRows) * static_cast<unsigned>(job.tiles_x) +
      tile_x;
  const uint2 pieces = job.work.tile_pieces[tile];
  begin = 0;
  end = 0;
  if (pieces.y == 0) return;
  const unsigned short* const rows =
      job.work.row_pieces + static_cast<std::size_t>(tile) * (kTileRows + 1) + plane_row % kTileRows;
  begin = pieces.x + rows[0];
  end = pieces.x + rows[1];
}

__device__ __forceinline__ unsigned long long warp_sum_of(unsigned long long value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
  return value;
}

template <class P>
__global__ void __launch_bounds__(kScanThreads) number_contours(const __grid_constant__ Job<P> job) {
  const Work<P>& work = job.work;
  const Counters& counters = *work.counters;
  const bool last_block = blockIdx.x == gridDim.x - 1;
  if (job.overflowed(counters)) {
    // What is known for certain, and more than there is room for.
    if (last_block && threadIdx.x == 0) {
      const unsigned long long points = counters.segments;
      const unsigned long long contours = counters.pieces;
      job.out.counts[0] = points > job.segment_capacity ? max(points, job.point_capacity + 1) : points;
      job.out.counts[1] = contours > job.piece_capacity ? max(contours, job.contour_capacity + 1) : 0;
    }
    return;
  }
  ScanShared& s = block_shared<ScanShared>();
  const unsigned units = static_cast<unsigned>(job.planes) * static_cast<unsigned>(job.cell_rows) *
                         static_cast<unsigned>(job.tiles_x);
  const unsigned first = (blockIdx.x * kScanThreads + threadIdx.x) * kScanUnits;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned begin[kScanUnits];
  unsigned end[kScanUnits];
  unsigned long long own = 0;
#pragma unroll
  for (unsigned k = 0; k < kScanUnits; ++k) {
    begin[k] = 0;
    end[k] = 0;
    if (first + k < units) row_range(job, first + k, begin[k], end[k]);
  }
#pragma unroll
  for (unsigned k = 0; k < kScanUnits; ++k)
    for (unsigned piece = begin[k]; piece < end[k]; ++piece) {
      const unsigned points = work.head_points[piece];
      if (points != 0) own += 1ULL << 32 | points;
    }
  unsigned long long sum = own;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned long long other = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) s.warp_sum[warp] = sum;
  __syncthreads();
  unsigned long long running = sum - own;
  unsigned long long total = 0;
  for (unsigned w = 0; w < kScanThreads / 32; ++w) {
    if (w == warp) running += total;
    total += s.warp_sum[w];
  }
  if (threadIdx.x == 0) store_release(&work.scan_status[blockIdx.x], total | kReady);
  // The sums of all blocks before this one: each thread waits for some of them.
  unsigned long long previous = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += kScanThreads) {
    unsigned long long status = load_acquire(&work.scan_status[b]);
    while ((status & kReady) == 0) {
      spin_pause();
      status = load_acquire(&work.scan_status[b]);
    }
    previous += status & ~kReady;
  }
  previous = warp_sum_of(previous);
  if (lane == 0) s.previous[warp] = previous;
  __syncthreads();
  previous = 0;
  for (unsigned w = 0; w < kScanThreads / 32; ++w) previous += s.previous[w];
  running += previous;

  const unsigned plane_units = static_cast<unsigned>(job.cell_rows) * static_cast<unsigned>(job.tiles_x);
#pragma unroll
  for (unsigned k = 0; k < kScanUnits; ++k) {
    const unsigned unit = first + k;
    if (unit < units && unit % plane_units == 0)
      job.out.class_begin[unit / plane_units] = static_cast<unsigned>(running >> 32);
    for (unsigned piece = begin[k]; piece < end[k]; ++piece) {
      const unsigned points = work.head_points[piece];
      if (points == 0) continue;
      const unsigned contour = static_cast<unsigned>(running >> 32);
      const unsigned offset = static_cast<unsigned>(running);
      if (contour < job.contour_capacity) {
        job.out.offsets[contour] = offset;
        job.out.closed[contour] = static_cast<unsigned char>(work.pieces[piece].length_closed >> 31);
      }
      work.head_offset[piece] = offset;
      running += 1ULL << 32 | points;
    }
  }
  if (last_block && threadIdx.x == kScanThreads - 1) {
    const unsigned long long contours = running >> 32;
    const unsigned long long points = running & 0xFFFFFFFFULL;
    job.out.counts[0] = points;
    job.out.counts[1] = contours;
    for (int plane = 0; units == 0 && plane < job.planes; ++plane) job.out.class_begin[plane] = 0;
    job.out.class_begin[job.planes] = static_cast<unsigned>(contours);
    if (contours <= job.contour_capacity) job.out.offsets[contours] = static_cast<unsigned>(points);
  }
}

template <class P>
__global__ void __launch_bounds__(kPlaceThreads) place_points(const __grid_constant__ Job<P> job) {
  const Work<P>& work = job.work;
  Counters& counters = *work.counters;
  const unsigned segments = job.overflowed(counters) ? 0 : counters.segments;
  const unsigned stride = gridDim.x * kPlaceThreads;
  const unsigned first = blockIdx.x * kPlaceThreads + threadIdx.x;
  const auto put = [&](unsigned offset, unsigned position, unsigned length, const P& point) {
    const unsigned at = offset + (job.reverse != 0 ? length - position : position);
    if (at < job.point_capacity) job.out.points[at] = point;
  };
  for (unsigned i = first; i < segments; i += stride) {
    const uint2 place = work.places[i];
    if (place.x == kNone) continue;
    const P point = work.points[i];
    const PieceInfo piece = work.pieces[place.x];
    if (piece.head == kNone) continue;
    const unsigned offset = work.head_offset[piece.head];
    const unsigned length = piece.length_closed & ~(1U << 31);
    unsigned position = piece.base + place.y;
    if (piece.length_closed >> 31 != 0) {
      if (position >= length) position -= length;
      if (position == 0) put(offset, length, length, point);
      put(offset, position, length, point);
    } else {
      if (piece.first != 0 && place.y == 0) put(offset, 0, length, work.from[place.x]);
      put(offset, position + 1, length, point);
    }
  }
  for (unsigned i = first; i < job.scan_blocks; i += stride) work.scan_status[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&counters.finished_blocks, 1U) == gridDim.x - 1) counters = {};
  }
}

}  // namespace contorno::contour_engine
