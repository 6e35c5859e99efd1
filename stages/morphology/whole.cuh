// Rectangles that are so wide that a block had better hold whole rows of the image: nothing is then loaded or
// prepared twice. Internal.
#pragma once

#include <algorithm>

#include "stages/morphology/rectangles.cuh"
#include "stages/morphology/stretches.cuh"

namespace contorno::morphology_cuda {

/// Steps that a thread holds. Large, so that a row of 3264 pixels with three samples needs so few threads
/// that four blocks fit on a multiprocessor with all registers they need; odd, so that threads use different
/// banks.
inline constexpr int kWholeHeld = 41;
/// Blocks have at most kMostWholeThreads threads; up to kGoodWholeThreads, whole rows may be chosen where
/// parts of rows are possible, too.
inline constexpr unsigned kGoodWholeThreads = 256, kMostWholeThreads = 1024;

/// One window along whole lines, with `results` results. Thread `holder` of a line holds the stretch of that
/// number, and gets the results of a stretch in `held`. Windows that begin before the line are computed by
/// its last threads, in whose own stretches no window begins. Returns the step of the thread's first result.
template <class W>
__device__ int window_of_whole(unsigned (&held)[kWholeHeld], const Stretches<kWholeHeld>& line,
                               const LineWindow& window, int results, int holder, int holders) {
  const bool inside = line.steps != nullptr && holder < line.count;
  if (inside) {
    rest_of_stretch<W>(held, line, holder);
    line.ones[holder * line.stride] = held[0];
  }
  __syncthreads();
  if (line.needs_many(window.length)) {
    if (inside && holder + line.kMany <= line.count) put_many<W>(line, holder);
    __syncthreads();
  }
  const int behind = line.holding(results - 1 + window.first) + 1;
  const int begin = holder < behind ? holder : holder - holders;
  const int result = begin * kWholeHeld - window.first;
  if (line.steps == nullptr || result + kWholeHeld <= 0) return results;
  if (!inside || begin < 0) rest_outside(held, window);
  windows_from<W>(held, line, begin, window.length);
  return result;
}

/// The arguments of window_whole_rows: one window along whole rows, or both of an opening or closing. A block
/// takes as many rows as a word has lanes. Its shared memory holds `lead` words that end with a stretch of
/// `outside`, the line, another such stretch, and the arrays `ones` and `many` of Stretches.
struct WholeRowsJob {
  AcrossJob rows;
  int stretches = 0, holders = 0;
  int lead = 0;

  explicit WholeRowsJob(const AcrossJob& across) : rows(across) {
    rows.grid.wide = 1;
    using Line = Stretches<kWholeHeld>;
    stretches = (rows.in_columns + kWholeHeld - 1) / kWholeHeld;
    for (int number = 0; number < rows.count; ++number) {
      const int first = rows.windows[number].first;
      holders = std::max({holders, stretches,
                          Line::holding(rows.columns - 1 + first) + 1 + std::max(0, -Line::holding(first))});
    }
    lead = (kWholeHeld * rows.pixel + 3) / 4 * 4;
  }
  /// Words of the line and the stretch after it.
  CONTORNO_HD int words() const { return (stretches + 1) * kWholeHeld * rows.pixel; }
  unsigned threads() const { return static_cast<unsigned>(holders * rows.pixel + 31) / 32 * 32; }
  std::size_t shared_bytes() const {
    return static_cast<std::size_t>(lead + words() + 2 * stretches * rows.pixel) * sizeof(unsigned);
  }
  /// Whether window_whole_rows can do the job on a device with so much shared memory a block.
  bool fits(std::size_t most_shared) const {
    return rows.windows[0].length > kWholeHeld && (rows.count == 1 || rows.windows[1].length > kWholeHeld) &&
           threads() <= kMostWholeThreads && shared_bytes() <= most_shared;
  }
};

/// Fills what lies outside of a line of `count` words for a window: `lead` words before it, and those after
/// it up to `words`.
__device__ inline void put_outside(unsigned* line, int count, int lead, int words, const LineWindow& window) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const unsigned outside = window.outside ^ window.complement;
  for (int at = thread; at < lead; at += threads) line[at - lead] = outside;
  for (int at = count + thread; at < words; at += threads) line[at] = outside;
}

template <class Rule, int kPixel>
__global__ void __launch_bounds__(kMostWholeThreads)
    window_whole_rows(const __grid_constant__ WholeRowsJob whole) {
  using W = typename Rule::W;
  const AcrossJob& job = whole.rows;
  const int pixel = kPixel != 0 ? kPixel : job.pixel, samples = job.columns * pixel;
  unsigned* line = &block_shared<unsigned>() + whole.lead;
  const BlockPlace block = place_of_block(job.grid);
  const int row = block.y * kLanes<W>;
  take_rows<Rule>(job, block.plane, row, 0, job.in_columns * pixel, line);
  put_outside(line, job.in_columns * pixel, whole.lead, whole.words(), job.windows[0]);
  __syncthreads();
  int channel = 0, holder = static_cast<int>(threadIdx.x);
  for (; channel < pixel && holder >= whole.holders; ++channel) holder -= whole.holders;
  Stretches<kWholeHeld> stretches{.stride = pixel, .count = whole.stretches};
  if (channel < pixel) {
    stretches.steps = line + channel;
    stretches.ones = stretches.steps + whole.words();
    stretches.many = stretches.ones + whole.stretches * pixel;
  }
  unsigned held[kWholeHeld] = {};
#pragma unroll 1
  for (int number = 0; number < job.count; ++number) {
    const LineWindow& window = job.windows[number];
    const bool more = number + 1 < job.count;
    const int x = window_of_whole<W>(held, stretches, window, job.columns, holder, whole.holders);
    if (more) {
#pragma unroll
      for (int e = 0; e < kWholeHeld; ++e) held[e] = between_windows<Rule>(job, held[e]);
    }
    __syncthreads();
    unsigned* to = line + x * pixel + channel;
#pragma unroll
    for (int e = 0; e < kWholeHeld; ++e)
      if (static_cast<unsigned>(x + e) < static_cast<unsigned>(job.columns)) to[e * pixel] = held[e];
    if (more) put_outside(line, samples, whole.lead, whole.words(), job.windows[1]);
    __syncthreads();
  }
  give_rows<W>(job, block.plane, row, 0, samples, line);
}

}  // namespace contorno::morphology_cuda
