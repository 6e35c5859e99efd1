// The kernels of morphology for rectangles. window_down applies a window down columns, from and to images;
// window_across applies one window along rows, or both windows of an opening or closing. Between kernels,
// rows lie in memory as in an image, in whole words. Internal.
#pragma once

#include "stages/morphology/held.cuh"
#include "stages/morphology/pixels.cuh"

namespace contorno::morphology_cuda {

// Threads of the largest blocks. Two of them fit on a multiprocessor, and more of smaller ones. (Measured on
// an H200.)
inline constexpr unsigned kMostThreads = 640, kMostDownThreads = 512;

/// The arguments of window_down: one window down the columns. A block holds kAcross words of as many rows as
/// its results need.
struct DownJob {
  Lines in;
  Target to;
  LineWindow window;
  Grid grid;
  int rows = 0;       ///< results of a block
  int across = 32;    ///< words across a block, where kAcross is 0
  int groups_at = 0;  ///< words of shared memory before the groups
};

/// Loads the steps that a thread holds: word x of the rows from `row` on, complemented for the window.
template <class Rule>
__device__ void hold_column(const DownJob& job, int plane, int row, int x, unsigned (&held)[kHeld]) {
  const Pixels& pixels = job.in.pixels;
  if (pixels.words && (x + 1) * kLanes<typename Rule::W> <= job.in.samples) {
    const char* at = reinterpret_cast<const char*>(pixels.line<const unsigned>(plane, row) + x);
#pragma unroll
    for (int e = 0; e < kHeld; ++e, at += pixels.row) {
      held[e] = job.window.outside;
      if (static_cast<unsigned>(row + e) < static_cast<unsigned>(job.in.rows))
        held[e] = word_of<Rule>(job.in, __ldcs(reinterpret_cast<const unsigned*>(at)));
    }
  } else {
    unsigned words[kHeld];
    words_from<Rule>(job.in, plane, row, x, job.window.outside, words, kHeld);
#pragma unroll
    for (int e = 0; e < kHeld; ++e) held[e] = words[e];
  }
#pragma unroll
  for (int e = 0; e < kHeld; ++e) held[e] ^= job.window.complement;
}

template <class Rule, int kAcross>
__global__ void __launch_bounds__(kMostDownThreads, 2) window_down(const __grid_constant__ DownJob job) {
  using W = typename Rule::W;
  const BlockPlace block = place_of_block(job.grid);
  const auto across = static_cast<int>(kAcross != 0 ? kAcross : job.across);
  const int column = static_cast<int>(threadIdx.x) % across,
            step = static_cast<int>(threadIdx.x) / across * kHeld;
  const int x = block.x * across + column, first_row = block.y * job.rows, y = first_row + step;
  unsigned held[kHeld];
  hold_column<Rule>(job, block.plane, y + job.window.first, x, held);
  unsigned* shared = &block_shared<unsigned>();
  const HeldPlace place{.steps = shared + step * across + column,
                        .groups = shared + job.groups_at + step / kShortGroup * across + column,
                        .stride = across};
  share_held(held, place, job.window.length);
  window_of_held<W>(held, place, job.window.length, step < job.rows);
  if (x * kLanes<W> >= job.to.lines.samples) return;
#pragma unroll
  for (int e = 0; e < kHeld; ++e) held[e] ^= job.window.complement;
  store_words<Rule>(job.to, block.plane, y, 1, min(first_row + job.rows, job.to.lines.rows), x, held);
}

/// The arguments of window_across: one window along rows, or the two of an opening or closing. A block takes
/// as many rows as a word has lanes; in shared memory a word holds the same sample of each row.
struct AcrossJob {
  Lines in, out;                    ///< `out` lies between kernels
  int columns = 0, in_columns = 0;  ///< pixels of a row
  int pixel = 1;                    ///< samples
  LineWindow windows[2];
  int count = 1;        ///< number of windows
  bool settle = false;  ///< limits values to the samples' range between the windows
  Grid grid;
  int segment = 0;    ///< results of a block, in pixels
  int holders = 1;    ///< threads of a line
  int groups_at = 0;  ///< words of shared memory before the groups
};

/// What the first window left in `word`, as the second one takes it.
template <class Rule>
__device__ unsigned between_windows(const AcrossJob& job, unsigned word) {
  word ^= job.windows[0].complement;
  if (job.settle) word = settled_word<Rule>(word);
  return word ^ job.windows[1].complement;
}

/// Loads samples first_sample .. first_sample + count - 1 of a block's rows, and those that share a word with
/// them, to `line`, complemented for the first window.
template <class Rule>
__device__ void take_rows(const AcrossJob& job, int plane, int row, int first_sample, int count,
                          unsigned* line) {
  using W = typename Rule::W;
  constexpr int kCount = kLanes<W>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  // Sample numbers may be negative.
  const int begin = first_sample >> (kCount / 2), end = (first_sample + count + kCount - 1) >> (kCount / 2);
  const bool whole =
      job.in.pixels.words && begin >= 0 && end * kCount <= job.in.samples && row + kCount <= job.in.rows;
  const LineWindow& window = job.windows[0];
  if (whole) {
    const unsigned* rows[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) rows[k] = job.in.pixels.line<const unsigned>(plane, row + k);
#pragma unroll 4
    for (int at = begin + thread; at < end; at += threads) {
      unsigned words[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        words[k] = word_of<Rule>(job.in, __ldcs(rows[k] + at)) ^ window.complement;
      put_transposed<W>(line + (at * kCount - first_sample), words);
    }
  } else {
    for (int at = begin + thread; at < end; at += threads) {
      unsigned words[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        words[k] = word_from<Rule>(job.in, plane, row + k, at, window.outside) ^ window.complement;
      put_transposed<W>(line + (at * kCount - first_sample), words);
    }
  }
}

/// Stores the results of the last window in a block, which begin at `line`.
template <class W>
__device__ void give_rows(const AcrossJob& job, int plane, int row, int first_sample, int count,
                          const unsigned* line) {
  constexpr int kCount = kLanes<W>;
  const int rows = min(kCount, job.out.rows - row);
  const unsigned complement = job.windows[job.count - 1].complement;
  for (int at = static_cast<int>(threadIdx.x); at * kCount < count; at += static_cast<int>(blockDim.x)) {
    unsigned words[kCount];
    get_transposed<W>(line + at * kCount, words);
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      if (k < rows)
        job.out.pixels.line<unsigned>(plane, row + k)[first_sample / kCount + at] = words[k] ^ complement;
  }
}

/// Makes the results of the first window what the second one takes; the thread's first one is that of
/// column `x` of the input, beside which they are outside.
template <class Rule>
__device__ void pass_on(const AcrossJob& job, int x, unsigned (&held)[kHeld]) {
  const LineWindow& window = job.windows[1];
  const bool inside = x >= 0 && x + kHeld <= job.in_columns;
#pragma unroll
  for (int e = 0; e < kHeld; ++e) {
    held[e] = between_windows<Rule>(job, held[e]);
    if (!inside && (x + e < 0 || x + e >= job.in_columns)) held[e] = window.outside ^ window.complement;
  }
}

template <class Rule, int kPixel>
__global__ void __launch_bounds__(kMostThreads, blocks_sharing(kMostThreads, 2))
    window_across(const __grid_constant__ AcrossJob job) {
  using W = typename Rule::W;
  const int pixel = kPixel != 0 ? kPixel : job.pixel;
  unsigned* shared = &block_shared<unsigned>();
  const BlockPlace block = place_of_block(job.grid);
  const int x0 = block.x * job.segment, row = block.y * kLanes<W>;
  const int columns = min(job.segment, job.columns - x0);
  const int between = columns + (job.count == 2 ? job.windows[1].length - 1 : 0);
  const int first_sample = (x0 + job.windows[1].first + job.windows[0].first) * pixel;
  // So that words of the input become words of shared memory.
  unsigned* line = shared + (first_sample & (kLanes<W> - 1));
  take_rows<Rule>(job, block.plane, row, first_sample, (between + job.windows[0].length - 1) * pixel, line);
  __syncthreads();
  int channel = 0, holder = static_cast<int>(threadIdx.x);
  for (; channel < pixel && holder >= job.holders; ++channel) holder -= job.holders;
  const int step = holder * kHeld;
  const bool holds = channel < pixel;
  HeldPlace place{.stride = pixel};
  unsigned held[kHeld] = {};
  if (holds) {
    place.steps = line + step * pixel + channel;
    place.groups = shared + job.groups_at + step / kShortGroup * pixel + channel;
#pragma unroll
    for (int e = 0; e < kHeld; ++e) held[e] = place.steps[e * pixel];
  }
#pragma unroll 1
  for (int number = 0; number < job.count; ++number) {
    const LineWindow& window = job.windows[number];
    if (number == 1) {
      pass_on<Rule>(job, x0 + window.first + step, held);
      __syncthreads();
      share_held(held, place, window.length);
    }
    window_of_held<W>(held, place, window.length,
                      holds && step < (number + 1 == job.count ? columns : between));
  }
  __syncthreads();
  if (holds) {
#pragma unroll
    for (int e = 0; e < kHeld; ++e) shared[(step + e) * pixel + channel] = held[e];
  }
  __syncthreads();
  give_rows<W>(job, block.plane, row, x0 * pixel, columns * pixel, shared);
}

}  // namespace contorno::morphology_cuda
