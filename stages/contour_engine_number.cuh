// number: gives contours their numbers and offsets. A scan over units in raster order, (plane, row, tile),
// each with the pieces whose first segment lies there; those with head_points are contours.
//
// Reads   tile_pieces, row_pieces, head_points
// Writes  offsets, closed, class_begin, counts, head_offset
//
// number_contours (large maps): every block publishes its sum and adds up those of all blocks before it.
// join_and_number (small maps): one cluster ranks the pieces and numbers the contours in one launch.
#pragma once

#include "stages/contour_engine_join.cuh"

namespace contorno::contour_engine {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanUnits = 1;  ///< units a thread of number_contours
inline constexpr unsigned long long kReady = 1ULL << 63;

/// The pieces of one unit.
struct UnitPieces {
  unsigned begin, end;
};

template <class P>
__device__ __forceinline__ UnitPieces pieces_of(const Job<P>& job, unsigned unit) {
  const unsigned tile_x = unit % static_cast<unsigned>(job.tiles_x);
  const unsigned row = unit / static_cast<unsigned>(job.tiles_x);
  const unsigned plane = row / static_cast<unsigned>(job.cell_rows);
  const unsigned plane_row = row % static_cast<unsigned>(job.cell_rows);
  const unsigned tile = (plane * static_cast<unsigned>(job.tiles_y) + plane_row / kTileRows) *
                            static_cast<unsigned>(job.tiles_x) +
                        tile_x;
  const uint2 pieces = __ldcg(&job.work.tile_pieces[tile]);
  if (pieces.y == 0) return {0, 0};
  const unsigned short* const rows =
      job.work.row_pieces + static_cast<std::size_t>(tile) * (kTileRows + 1) + plane_row % kTileRows;
  return {pieces.x + __ldcg(&rows[0]), pieces.x + __ldcg(&rows[1])};
}

/// Calls `use` with (piece, points, closed) of each contour whose first piece is in the unit. Loads go in
/// fours.
template <class P, class Use>
__device__ __forceinline__ void for_heads(const Job<P>& job, const UnitPieces& unit, const Use& use) {
  for (unsigned piece = unit.begin; piece < unit.end; piece += 4) {
    unsigned points[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      points[k] = piece + k < unit.end ? __ldcg(&job.work.head_points[piece + k]) : 0;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      if (points[k] != 0) use(piece + k, points[k] & ~(1U << 31), points[k] >> 31);
  }
}

/// (contours << 32 | points) of a unit; the points of a frame are below 2^32, its contours below 2^31.
template <class P>
__device__ __forceinline__ unsigned long long sum_of(const Job<P>& job, const UnitPieces& unit) {
  unsigned long long sum = 0;
  for_heads(job, unit, [&](unsigned, unsigned points, unsigned) { sum += 1ULL << 32 | points; });
  return sum;
}

/// Numbers the contours of a unit, the first of which has what `running` says before it.
template <class P>
__device__ __forceinline__ void number_unit(const Job<P>& job, unsigned unit, const UnitPieces& pieces,
                                            unsigned long long& running) {
  const unsigned plane_units = static_cast<unsigned>(job.cell_rows) * static_cast<unsigned>(job.tiles_x);
  if (unit % plane_units == 0) job.out.class_begin[unit / plane_units] = static_cast<unsigned>(running >> 32);
  for_heads(job, pieces, [&](unsigned piece, unsigned points, unsigned closed) {
    const unsigned contour = static_cast<unsigned>(running >> 32);
    const unsigned offset = static_cast<unsigned>(running);
    if (contour < job.contour_capacity) {
      job.out.offsets[contour] = offset;
      job.out.closed[contour] = static_cast<unsigned char>(closed);
    }
    job.work.head_offset[piece] = offset;
    running += 1ULL << 32 | points;
  });
}

/// The end of everything, by one thread.
template <class P>
__device__ void write_totals(const Job<P>& job, unsigned long long all) {
  const unsigned long long contours = all >> 32;
  const unsigned long long points = all & 0xFFFFFFFFULL;
  job.out.counts[0] = points;
  job.out.counts[1] = contours;
  job.work.counters->numbered = all;
  if (all == 0)
    for (int plane = 0; plane < job.planes; ++plane) job.out.class_begin[plane] = 0;
  job.out.class_begin[job.planes] = static_cast<unsigned>(contours);
  if (contours <= job.contour_capacity) job.out.offsets[contours] = static_cast<unsigned>(points);
}

/// The same when the workspace was too small: what is known for certain, and more than there is room for.
template <class P>
__device__ void write_overflow(const Job<P>& job) {
  const Counters& counters = *job.work.counters;
  const unsigned long long points = counters.earlier_segments + counters.segments;
  const unsigned long long contours = counters.earlier_pieces + counters.pieces;
  job.out.counts[0] = points > job.segment_capacity ? max(points, job.point_capacity + 1) : points;
  job.out.counts[1] = contours > job.piece_capacity ? max(contours, job.contour_capacity + 1) : 0;
}

/// Sum over the block; `before` becomes the sum of the threads before this one. `sums` holds one value a
/// warp.
__device__ __forceinline__ unsigned long long block_scan(unsigned long long own, unsigned warps,
                                                         unsigned long long* sums,
                                                         unsigned long long& before) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned long long sum = own;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned long long other = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  before = sum - own;
  unsigned long long all = 0;
  for (unsigned w = 0; w < warps; ++w) {
    if (w == warp) before += all;
    all += sums[w];
  }
  return all;
}

/// Contours and points of the planes before those of this job, for the thread of the first unit; 0 for
/// others.
template <class P>
__device__ __forceinline__ unsigned long long numbered_before(const Job<P>& job) {
  return blockIdx.x == 0 && threadIdx.x == 0 ? job.work.counters->numbered : 0;
}

template <class P>
__device__ __forceinline__ unsigned units_of(const Job<P>& job) {
  return static_cast<unsigned>(job.planes) * static_cast<unsigned>(job.cell_rows) *
         static_cast<unsigned>(job.tiles_x);
}

struct ScanShared {
  unsigned long long sums[kScanThreads / 32], previous[kScanThreads / 32];
};

template <class P>
__global__ void __launch_bounds__(kScanThreads) number_contours(const __grid_constant__ Job<P> job) {
  const bool last_block = blockIdx.x == gridDim.x - 1;
  ScanShared& s = block_shared<ScanShared>();
  const unsigned units = units_of(job);
  const unsigned first = (blockIdx.x * kScanThreads + threadIdx.x) * kScanUnits;
  UnitPieces unit[kScanUnits];
  // Where the pieces are is known since tracing, which was over when the kernel before this one began.
#pragma unroll
  for (unsigned k = 0; k < kScanUnits; ++k)
    unit[k] = first + k < units ? pieces_of(job, first + k) : UnitPieces{0, 0};
  wait_for_previous();
  let_next_begin();
  if (job.overflowed(*job.work.counters)) {
    if (last_block && threadIdx.x == 0) write_overflow(job);
    return;
  }
  const unsigned long long before = numbered_before(job);
  unsigned long long own = before;
#pragma unroll
  for (unsigned k = 0; k < kScanUnits; ++k) own += sum_of(job, unit[k]);
  unsigned long long running = 0;
  const unsigned long long all = block_scan(own, kScanThreads / 32, s.sums, running);
  running += before;
  if (threadIdx.x == 0) store_relaxed(&job.work.scan_status[blockIdx.x], all | kReady);
  // The sums of all blocks before this one: each thread waits for some of them.
  unsigned long long previous = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += kScanThreads) {
    unsigned long long status = load_relaxed(&job.work.scan_status[b]);
    while ((status & kReady) == 0) {
      spin_pause();
      status = load_relaxed(&job.work.scan_status[b]);
    }
    previous += status & ~kReady;
  }
  unsigned long long unused = 0;
  running += block_scan(previous, kScanThreads / 32, s.previous, unused);
#pragma unroll
  for (unsigned k = 0; k < kScanUnits; ++k)
    if (first + k < units) number_unit(job, first + k, unit[k], running);
  if (last_block && threadIdx.x == kScanThreads - 1) write_totals(job, running);
}

template <class P>
__global__ void __launch_bounds__(kJoinThreads, 1) join_and_number(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  JoinShared& s = block_shared<JoinShared>();
  if (job.overflowed(*job.work.counters)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) write_overflow(job);
    return;
  }
  const unsigned units = units_of(job);
  const unsigned each = (units + gridDim.x * kJoinThreads - 1) / (gridDim.x * kJoinThreads);
  const unsigned first = (blockIdx.x * kJoinThreads + threadIdx.x) * each;
  const unsigned end = min(units, first + each);
  // Asked for early: the pieces of the first unit do not depend on the joining.
  const UnitPieces head = first < end ? pieces_of(job, first) : UnitPieces{0, 0};
  const unsigned active = job.work.counters->active;
  if (active > kJoinPlaces) {
    join_in_memory<P, kJoinThreads>(job.work, active, blockIdx.x, gridDim.x);
    cluster_sync();
    for (unsigned i = blockIdx.x * kJoinThreads + threadIdx.x; i < active; i += gridDim.x * kJoinThreads)
      finish_in_memory(job, i);
  } else if (blockIdx.x == 0 && active != 0) {
    join_in_block(job, active, s);
  }
  cluster_sync();
  const unsigned long long before = numbered_before(job);
  unsigned long long own = before + sum_of(job, head);
  for (unsigned unit = first + 1; unit < end; ++unit) own += sum_of(job, pieces_of(job, unit));
  unsigned long long running = 0;
  const unsigned long long all = block_scan(own, kJoinThreads / 32, s.warp_sums, running);
  if (threadIdx.x < gridDim.x) *remote_shared(&s.block_sums[blockIdx.x], threadIdx.x) = all;
  cluster_sync();
  running += before;
  for (unsigned b = 0; b < blockIdx.x; ++b) running += s.block_sums[b];
  for (unsigned unit = first; unit < end; ++unit)
    number_unit(job, unit, unit == first ? head : pieces_of(job, unit), running);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == kJoinThreads - 1) write_totals(job, running);
}

}  // namespace contorno::contour_engine
