// Rectangles that are so high that a block had better hold whole columns of the image: every sample is then
// read once, however high the window is. Internal.
#pragma once

#include "stages/morphology/rectangles.cuh"
#include "stages/morphology/stretches.cuh"

namespace contorno::morphology_cuda {

/// Rows (steps) that a thread holds at a time. One more than a multiple of 8, so that threads use different
/// banks of shared memory for any number of words across that is a multiple of four. Large, so that most
/// columns are cut into no more stretches than a block has threads for.
inline constexpr int kColumnHeld = 41;
inline constexpr int kColumnHolders = 64;  ///< threads that work on a column

/// Words of a row that a block holds: a sector of memory (32 bytes), or half of it where columns are too long
/// for shared memory. Measured on an H200 with 3264 x 2448 RGB pixels: with 20 words all blocks run at the
/// same time, but end in the middle of sectors, and a kernel takes 3 us more; 16 words cost as much, and 4
/// words take almost twice the time.
inline constexpr int kColumnsAcross[] = {8, 4};
/// Windows of at least so many rows are faster by whole columns (on an H200).
inline constexpr int kColumnsFrom = 121;
constexpr unsigned column_threads(int across) {
  return kColumnHolders * static_cast<unsigned>(across);
}

/// The arguments of window_columns: one window down whole columns. Shared memory holds a stretch of
/// `outside`, the columns, another such stretch, and the arrays `ones` and `many` of Stretches.
struct ColumnsJob {
  Lines in;
  Target to;
  LineWindow window;
  int stretches = 0;
  Grid grid;
  int readable = 0;    ///< words of a row that can be copied unchanged
  bool quads = false;  ///< rows begin at multiples of 16 bytes

  std::size_t shared_bytes(int across) const {
    const int rows = (stretches + 2) * kColumnHeld + 2 * stretches;
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(across) * sizeof(unsigned);
  }
};

/// Copies words x .. x + kAcross - 1 of all rows to shared memory, by Units of one or four words, and fills
/// what lies outside.
template <class Rule, int kAcross, class Unit>
__device__ void take_columns(const ColumnsJob& job, int plane, int x, unsigned* columns) {
  constexpr int kWords = sizeof(Unit) / sizeof(unsigned), kUnits = kAcross / kWords;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int at = thread; at < job.in.rows * kUnits; at += threads) {
    const int y = at / kUnits, from = x + (at - y * kUnits) * kWords;
    unsigned* to = columns + at * kWords;
    if (from + kWords <= job.readable)
      copy_once(reinterpret_cast<Unit*>(to),
                reinterpret_cast<const Unit*>(job.in.pixels.line<const unsigned>(plane, y) + from));
    else
      for (int k = 0; k < kWords; ++k)
        to[k] = word_from<Rule>(job.in, plane, y, from + k, job.window.outside);
  }
  for (int at = thread; at < kColumnHeld * kAcross; at += threads)
    columns[at - kColumnHeld * kAcross] = job.window.outside;
  for (int at = job.in.rows * kAcross + thread; at < (job.stretches + 1) * kColumnHeld * kAcross;
       at += threads)
    columns[at] = job.window.outside;
  wait_for_copies();
}

/// Writes `ones` and, if the window needs it, `many` of a line, of which the thread has the number `holder`.
template <class W>
__device__ void put_maxima(const Stretches<kColumnHeld>& line, int holder, int length) {
  using R = RunningMaximum<W>;
  for (int stretch = holder; stretch < line.count; stretch += kColumnHolders) {
    const int first = stretch * kColumnHeld;
    R all(line.step(first));
#pragma unroll
    for (int e = 1; e < kColumnHeld; e += 2) all.take(R(line.step(first + e)), R(line.step(first + e + 1)));
    line.ones[stretch * line.stride] = all.word();
  }
  __syncthreads();
  if (line.needs_many(length)) {
    for (int stretch = holder; stretch + line.kMany <= line.count; stretch += kColumnHolders)
      put_many<W>(line, stretch);
    __syncthreads();
  }
}

template <class Rule, int kAcross>
__global__ void __launch_bounds__(column_threads(kAcross), 1024 / column_threads(kAcross))
    window_columns(const __grid_constant__ ColumnsJob job) {
  using W = typename Rule::W;
  const BlockPlace block = place_of_block(job.grid);
  const int x = block.x * kAcross;
  unsigned* columns = &block_shared<unsigned>() + kColumnHeld * kAcross;
  if (job.quads)
    take_columns<Rule, kAcross, uint4>(job, block.plane, x, columns);
  else
    take_columns<Rule, kAcross, unsigned>(job, block.plane, x, columns);
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % kAcross,
            holder = static_cast<int>(threadIdx.x) / kAcross;
  const LineWindow& window = job.window;
  Stretches<kColumnHeld> line{.steps = columns + column, .stride = kAcross, .count = job.stretches};
  line.complement = window.complement;
  line.ones = line.steps + (job.stretches + 1) * kColumnHeld * kAcross;
  line.many = line.ones + job.stretches * kAcross;
  put_maxima<W>(line, holder, window.length);
  const Lines& out = job.to.lines;
  if ((x + column) * kLanes<W> >= out.samples) return;
  const int end = line.holding(out.rows - 1 + window.first) + 1;
  for (int stretch = line.holding(window.first) + holder; stretch < end; stretch += kColumnHolders) {
    unsigned held[kColumnHeld];
    if (stretch >= 0 && stretch < job.stretches)
      rest_of_stretch<W>(held, line, stretch);
    else
      rest_outside(held, window);
    windows_from<W>(held, line, stretch, window.length);
#pragma unroll
    for (int e = 0; e < kColumnHeld; ++e) held[e] ^= window.complement;
    store_words<Rule>(job.to, block.plane, stretch * kColumnHeld - window.first, 1, out.rows, x + column,
                      held);
  }
}

}  // namespace contorno::morphology_cuda
